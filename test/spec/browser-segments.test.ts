// Which segments browsers may load.

import { describe, expect, it } from "vitest";

import { createFixture, type Files, shop } from "../build/_fixture.ts";

async function problemsOf(files: Files, options = {}) {
  return await createFixture({ ...shop, ...files }).problems(options);
}

describe("segments that browsers may load", () => {
  it("browser-segments-1: if the configuration has browserSegments, browsers may load only those, whatever pages name", async () => {
    const app = createFixture(shop);
    expect((await app.build({ browserSegments: [] })).manifest.browserSegments).toEqual([]);
    expect(Object.keys(app.browserManifest().segments)).toEqual([]);
    expect((await app.build({ browserSegments: ["ui"] })).manifest.browserSegments).toEqual(["ui"]);
  });

  it("a startClient in a module that no page loads makes nothing public: a warning, except in tests (browser-segments-2)", async () => {
    const call =
      'import { startClient } from "seamline/client";\nawait startClient(location.hash, "shop");\n';
    const app = createFixture({ ...shop, "src/forgotten.ts": call, "src/main.test.ts": call });
    const { manifest, warnings } = await app.build();
    expect(manifest.browserSegments).toEqual(["ui"]);
    expect(warnings).toMatchObject([
      { file: "src/forgotten.ts", message: expect.stringContaining("no page loads this module") },
    ]);
    expect((await app.build({ browserSegments: ["ui"] })).warnings).toEqual([]);
  });

  it("browser-segments-2: without browserSegments, browsers may load the segments that startClient names by a literal, in pages and the modules they load", async () => {
    const app = createFixture({
      ...shop,
      "index.html":
        '<!doctype html><script type="module">import { startClient } from "/svc/client.js";\nimport "./src/second.ts";\nawait startClient("ui");</script>',
      "src/second.ts":
        'import { startClient } from "seamline/client";\nawait startClient("shop");\n',
      "src/shop/stock.ts": "export async function stock(): Promise<number> {\n  return 1;\n}\n",
    });
    expect((await app.build()).manifest.browserSegments).toEqual(["shop", "ui"]);
    expect((await app.build({ browserSegments: ["ui"] })).manifest.browserSegments).toEqual(["ui"]);
  });

  it("browser-segments-3: without browserSegments, a startClient whose arguments aren't literals fails the build", async () => {
    const app = createFixture({
      ...shop,
      "src/main.ts":
        'import { startClient } from "seamline/client";\nconst name = location.hash;\nawait startClient(name);\n',
    });
    expect(await app.problems()).toMatchObject([
      { file: "src/main.ts", line: 3, hint: expect.stringMatching(/browserSegments/) },
    ]);
    expect((await app.build({ browserSegments: ["ui"] })).manifest.browserSegments).toEqual(["ui"]);
  });

  it("a problem with startClient points into the page, and commented-out scripts don't count", async () => {
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
    expect((await app.build()).manifest.browserSegments).toEqual(["shop", "ui"]);
    expect(app.list("dist/browser").filter((file) => file.endsWith(".html"))).toEqual([
      "index.html",
    ]);
  });

  it("an unknown segment in browserSegments is refused, with the nearest name", async () => {
    expect(await problemsOf({}, { browserSegments: ["iu"] })).toMatchObject([
      { message: expect.stringMatching(/"iu" isn't a segment/), hint: 'Did you mean "ui"?' },
    ]);
    const main = 'import { startClient } from "seamline/client";\nawait startClient("shopp");\n';
    expect(await problemsOf({ "src/main.ts": main })).toMatchObject([
      { file: "src/main.ts", hint: 'Did you mean "shop"?' },
    ]);
  });

  it("modules that client.import or browserModules name are built for browsers", async () => {
    const app = createFixture({
      ...shop,
      "src/main.ts":
        'import { startClient } from "seamline/client";\nconst client = await startClient("ui");\nawait client.import("./tools/one.js");\n',
      "src/tools/one.ts": "export const one = 1;\n",
      "src/tools/two.ts": "export const two = 2;\n",
      "src/tools/three.ts": "export const three = 3;\n",
    });
    const { warnings } = await app.build({ browserModules: ["./tools/tw*.ts", "nothing/**"] });
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
