import { expect, it } from "vitest";

import { digest as sha256 } from "../../../server/http/host.ts";
import { createLists } from "../../../src/roles/members/lists.ts";
import { textOfList } from "../../../src/roles/members/member-list.ts";
import type { Members } from "../../../src/roles/members/members.ts";
import type { Observer } from "../../../src/roles/pipeline/observer.ts";
import { TestClock, TestDeployment } from "../../_cluster.ts";
import { dialAsMember, memoryDial } from "../../_fake-member.ts";

const encoder = new TextEncoder();
const procedure = (fqn: string) =>
  ({ fqn, version: "0.0.0", access: "public", segments: ["s"], parameters: [] }) as const;

it.each([true, false])(
  "members that join by digest share what their list says for the console, each with its own name (with a console: %s)",
  async (hasConsole) => {
    let members: Pick<Members, "all"> | undefined;
    const observer: Observer = {
      calls: undefined,
      attach({ subject }) {
        if (subject.mode === "gateway") ({ members } = subject);
      },
      started() {},
      stopped() {},
      handle: async () => undefined,
    };
    const local = new TestDeployment();
    const details = { segments: ["s"], procedures: [procedure("a/b")] };
    const text = encoder.encode(textOfList({ procedures: ["a/b"] }, details));
    await local.gateway(hasConsole ? { observer } : {});
    const member = async (name: string) =>
      await dialAsMember({ dial: memoryDial(local.network), instance: name });
    const sender = await member("sender");
    const digest = sha256(text);
    expect((await sender.request("PUT", `/nodes/lists/${digest}`, text)).status).toBe(201);
    for (const name of ["first", "second", undefined]) {
      const { status } = await (await member(String(name))).announce({ digest, name });
      expect(status).toBe(201);
    }
    if (!hasConsole) return;
    const abouts = members?.all().map(({ about }) => about);
    expect(abouts).toEqual([
      { name: "first", ...details },
      { name: "second", ...details },
      details,
    ]);
    expect(new Set(abouts?.map((about) => about?.procedures)).size).toBe(1);
    const long = await sender.announce({ digest, name: "n".repeat(301) });
    expect(long.status).toBe(400);
  },
);

it("a gateway without a console keeps nothing of what lists say for it", async () => {
  for (const keepsDetails of [true, false]) {
    const lists = createLists({ clock: new TestClock(), digest: sha256 }, { keepsDetails });
    const details = { segments: ["s"], procedures: [procedure("a/b")] };
    const bytes = encoder.encode(textOfList({ procedures: ["a/b"] }, details));
    const digest = sha256(bytes);
    await lists.receive(digest, () => bytes);
    expect(lists.find(digest)?.details).toEqual(keepsDetails ? details : undefined);
  }
});

it("the text of a list is the same for the same content, in whatever order", () => {
  const route = (name: string, path: string) => ({ name, method: "GET", path });
  const text = textOfList({
    procedures: ["b", "a", "é", "b", "Z"],
    idempotent: ["b", "a"],
    timeouts: { b: 2, a: 1 },
    routes: [route("y", "/y"), route("x", "/z"), route("x", "/a")],
  });
  expect(text).toBe(
    '{"procedures":["Z","a","b","é"],"idempotent":["a","b"],"timeouts":{"a":1,"b":2},' +
      '"routes":[{"name":"x","method":"GET","path":"/a"},{"name":"x","method":"GET","path":"/z"},{"name":"y","method":"GET","path":"/y"}]}',
  );
  expect(
    textOfList({
      routes: [route("x", "/a"), route("y", "/y"), route("x", "/z")],
      timeouts: { a: 1, b: 2 },
      idempotent: ["a", "b"],
      procedures: ["Z", "a", "b", "é"],
    }),
  ).toBe(text);
  expect(textOfList({ procedures: [], idempotent: [], timeouts: {}, routes: [] })).toBe(
    '{"procedures":[]}',
  );
});

it("a list that a member sends with its join and the same one by digest are one", async () => {
  const lists = createLists({ clock: new TestClock(), digest: sha256 });
  const offered = { procedures: ["b", "a"], idempotent: ["a"], timeouts: { a: 5 } };
  const bytes = encoder.encode(textOfList(offered));
  const digest = sha256(bytes);
  const plain = lists.share(lists.of(offered));
  expect(lists.find(digest)).toBe(plain);
  await lists.receive(digest, () => Promise.reject(new Error("it is there")));
  expect(lists.share(lists.of({ ...offered, procedures: ["a", "b"] }))).toBe(plain);
  lists.release(plain);
  expect(lists.find(digest)).toBe(plain);
  lists.release(plain);
  expect(lists.find(digest)).toBeUndefined();
});
