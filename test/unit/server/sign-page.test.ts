import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { runtimeHash } from "../../../server/base/runtime-files.ts";
import { manifestTag, signPage } from "../../../server/compile/write/sign-page.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "seamline-page-"));
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

async function signed(html: string, manifest = "{}", base = "/", codec = false): Promise<string> {
  const file = join(folder, "index.html");
  await writeFile(file, html);
  await signPage(file, { revision: "r1", manifest, base, codec });
  return await readFile(file, "utf8");
}

const opening = '<script type="application/json" id="seamline-manifest">';
const tagOf = (manifest: string, base = "/"): string =>
  manifestTag({ revision: "r1", manifest, base });
const textOf = (tag: string): string => tag.slice(opening.length, -"</script>".length);

test("nothing in a manifest ends its data block, or depends on the page's character set", () => {
  const manifest = JSON.stringify({
    modules: {
      "</script><script>alert(1)</script>": "<!--<script>",
      "]]>&lt;": "ä\u2028\ud83e\uddf5",
    },
  });
  const tag = tagOf(manifest);
  const text = textOf(tag);
  expect(text).toMatch(/^[ -~]*$/);
  expect(text).not.toMatch(/[<>&]/);
  expect(JSON.parse(text)).toEqual(JSON.parse(manifest));
});

test("a manifest of more than 4 KB gzipped is preloaded", () => {
  const random = Array.from({ length: 1200 }, (_, index) =>
    Math.sin(index + 1)
      .toString(36)
      .slice(-6),
  );
  expect(tagOf(JSON.stringify(random))).toBe(
    '<link rel="preload" as="fetch" crossorigin href="/svc/manifest.json?revision=r1">',
  );
  expect(tagOf(JSON.stringify(random), "/shop/")).toContain('href="/shop/svc/manifest.json?');
  expect(tagOf(JSON.stringify(random.slice(0, 400)))).toContain(opening);
});

test("the manifest comes after the character set, which must be near the beginning", async () => {
  const html = await signed(
    '<!doctype html>\n<html>\n<head lang="en">\n<meta charset="utf-8">\n<script type="module" src="/a.js"></script>\n</head></html>',
    '{"format":1}',
  );
  expect(html).toBe(`<!doctype html>
<html>
<head lang="en">
    <meta name="seamline-revision" content="r1">
    <link rel="modulepreload" href="/svc/${runtimeHash()}/client.js">
    <link rel="modulepreload" href="/svc/${runtimeHash()}/remote.js">
<meta charset="utf-8">
    ${opening}{"format":1}</script>
<script type="module" src="/a.js"></script>
</head></html>`);
});

test("the runtime of a page is below its base", async () => {
  const html = await signed('<head></head><script type="module"></script>', "{}", "/shop/");
  for (const name of ["client", "remote"])
    expect(html).toContain(
      `<link rel="modulepreload" href="/shop/svc/${runtimeHash()}/${name}.js">`,
    );
  expect(html).not.toContain("codec");
});

test("the codec of a page that needs it is preloaded beside the rest", async () => {
  const html = await signed('<head></head><script type="module"></script>', "{}", "/", true);
  expect(html).toContain(`<link rel="modulepreload" href="/svc/${runtimeHash()}/codec.js">`);
});

test("a page without modules is only signed", async () => {
  expect(await signed("<!doctype html><title>About</title>")).toBe(
    '<!doctype html>\n    <meta name="seamline-revision" content="r1"><title>About</title>',
  );
});
