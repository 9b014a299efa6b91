// Which segments browsers may load (decisions §6).

import { describe, expect, it } from "vitest";

import { createFixture, type Files, shop } from "../build/_fixture.ts";

async function problemsOf(files: Files, options = {}) {
  return await createFixture({ ...shop, ...files }).problems(options);
}

describe("segments that browsers may load", () => {
  it("D6.clients-1 browsers may load the segments in clients, where the configuration has it, whatever pages say", async () => {
    const app = createFixture(shop);
    expect((await app.build({ clients: [] })).manifest.clients).toEqual([]);
    expect(Object.keys(app.browserManifest().segments)).toEqual([]);
    expect((await app.build({ clients: ["ui"] })).manifest.clients).toEqual(["ui"]);
  });

  it("a module that no page loads hands nothing out: a warning, but none of a test (D6.clients-2)", async () => {
    const call =
      'import { startClient } from "seamline/client";\nawait startClient(location.hash, "shop");\n';
    const app = createFixture({ ...shop, "src/forgotten.ts": call, "src/main.test.ts": call });
    const { manifest, warnings } = await app.build();
    expect(manifest.clients).toEqual(["ui"]);
    expect(warnings).toMatchObject([
      { file: "src/forgotten.ts", message: expect.stringContaining("no page loads this module") },
    ]);
    expect((await app.build({ clients: ["ui"] })).warnings).toEqual([]);
  });

  it("D6.clients-2 without clients browsers may load those that startClient names by a literal, in pages and in the modules that they load", async () => {
    const app = createFixture({
      ...shop,
      "index.html":
        '<!doctype html><script type="module">import { startClient } from "/svc/client.js";\nimport "./src/second.ts";\nawait startClient("ui");</script>',
      "src/second.ts":
        'import { startClient } from "seamline/client";\nawait startClient("shop");\n',
      "src/shop/stock.ts": "export async function stock(): Promise<number> {\n  return 1;\n}\n",
    });
    expect((await app.build()).manifest.clients).toEqual(["shop", "ui"]);
    expect((await app.build({ clients: ["ui"] })).manifest.clients).toEqual(["ui"]);
  });

  it("D6.clients-3 a startClient with something else than literals, and no clients, fails the build and says so", async () => {
    const app = createFixture({
      ...shop,
      "src/main.ts":
        'import { startClient } from "seamline/client";\nconst name = location.hash;\nawait startClient(name);\n',
    });
    expect(await app.problems()).toMatchObject([
      { file: "src/main.ts", line: 3, hint: expect.stringMatching(/clients/) },
    ]);
    expect((await app.build({ clients: ["ui"] })).manifest.clients).toEqual(["ui"]);
  });

  it("points into a page, and leaves out what the page leaves out", async () => {
    const page = `<!doctype html>
<!-- <script type="module">import { startClient } from "/svc/client.js"; startClient(one);</script> -->
<script>startClient(two)</script>
<script type='module' async>
  import { startClient } from "/svc/client.js";
  await startClient(three);
</script>
`;
    expect(await problemsOf({ "index.html": page })).toMatchObject([
      { file: "index.html", line: 6, frame: expect.stringContaining("startClient(three)") },
    ]);
    // A page that is served as it is starts clients like any other.
    const app = createFixture({
      ...shop,
      "src/plain.html": page.replace("(three)", '("shop")'),
      "src/shop/stock.ts": "export async function stock(): Promise<number> {\n  return 1;\n}\n",
    });
    expect((await app.build()).manifest.clients).toEqual(["shop", "ui"]);
    expect(app.list("dist/browser").filter((file) => file.endsWith(".html"))).toEqual([
      "index.html",
    ]);
  });

  it("refuses a segment that is none, with the nearest", async () => {
    expect(await problemsOf({}, { clients: ["iu"] })).toMatchObject([
      { message: expect.stringMatching(/"iu" is no segment/), hint: 'Did you mean "ui"?' },
    ]);
    const main = 'import { startClient } from "seamline/client";\nawait startClient("shopp");\n';
    expect(await problemsOf({ "src/main.ts": main })).toMatchObject([
      { file: "src/main.ts", hint: 'Did you mean "shop"?' },
    ]);
  });

  it("adds modules that client.import or clientModules name", async () => {
    const app = createFixture({
      ...shop,
      "src/main.ts":
        'import { startClient } from "seamline/client";\nconst client = await startClient("ui");\nawait client.import("./tools/one.js");\n',
      "src/tools/one.ts": "export const one = 1;\n",
      "src/tools/two.ts": "export const two = 2;\n",
      "src/tools/three.ts": "export const three = 3;\n",
    });
    const { warnings } = await app.build({ clientModules: ["./tools/tw*.ts", "nothing/**"] });
    expect(warnings).toMatchObject([
      { message: expect.stringContaining('"nothing/**" matches no module') },
    ]);
    expect(Object.keys(app.browserManifest().modules)).toEqual([
      "tools/one",
      "tools/two",
      "ui/filter",
    ]);
    app.write({ "src/main.ts": app.read("src/main.ts").replace("tools/one.js", "tools/oen.js") });
    expect(await app.problems()).toMatchObject([
      {
        file: "src/main.ts",
        message: expect.stringMatching(/tools\/oen\.js/),
        hint: 'Did you mean "./tools/one"?',
      },
    ]);
  });
});
