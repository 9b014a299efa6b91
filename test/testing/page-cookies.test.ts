import { describe, expect, it } from "vitest";

import { createTestCluster } from "../../server/testing/index.ts";
import { createFixture } from "../build/_fixture.ts";

interface Session {
  signIn(name: string): Promise<void>;
  signOut(): Promise<void>;
  whoAmI(): Promise<string>;
}

interface Page {
  ask(): Promise<string>;
}

const files = {
  "segments/session.segment.json":
    '{ "./session": { "signIn": { "access": "public" }, "signOut": { "access": "public" }, "whoAmI": { "access": "public" } } }',
  "segments/page.segment.json": '{ "./page": { "ask": { "access": "public" } } }',
  "src/session.ts": `import { getContext } from "seamline";
export async function signIn(name: string): Promise<void> {
  getContext().response.cookies.set("session", name, { maxAge: 60 });
}
export async function signOut(): Promise<void> {
  getContext().response.cookies.delete("session");
}
export async function whoAmI(): Promise<string> {
  return getContext().cookies.get("session") ?? "nobody";
}
`,
  "src/page.ts": `import { getContext } from "seamline";
export async function ask(): Promise<string> {
  return String(getContext());
}
`,
};

describe("the page of a test cluster", () => {
  it("sends its cookies, and keeps those that answers set", async () => {
    const { root } = createFixture(files);
    await using cluster = await createTestCluster({ root });
    const { signIn, signOut, whoAmI } = await cluster.page.import<Session>("./session");
    expect(await whoAmI()).toBe("nobody");
    await signIn("Ann ü");
    expect(await whoAmI()).toBe("Ann ü");
    cluster.page.cookies.set("session", "Bob");
    expect(await whoAmI()).toBe("Bob");
    await signOut();
    expect([...cluster.page.cookies]).toEqual([]);
    // The test itself is a service without a browser.
    await cluster.runProcedure("signIn", "", { name: "Ann" });
    expect(await cluster.runProcedure("whoAmI")).toBe("nobody");
  });

  it("a request from outside sends cookies and sees those of the answer", async () => {
    const { root } = createFixture(files);
    await using cluster = await createTestCluster({ root });
    const answer = await cluster.fetch("/rpc/whoAmI", { headers: { cookie: "session=Ann" } });
    expect(await answer.text()).toBe("Ann");
    const set = await cluster.fetch("/rpc/signIn?name=Bob");
    expect(set.headers.getSetCookie()).toEqual([expect.stringMatching(/^session=Bob;/)]);
  });

  it("in a page of a cluster, getContext() throws and says why (context-27)", async () => {
    const { root } = createFixture(files);
    await using cluster = await createTestCluster({
      root,
      page: ["page"],
      browserSegments: ["page"],
    });
    const { ask } = await cluster.page.import<Page>("./page");
    await expect(ask()).rejects.toThrow("pages carry none");
  });
});
