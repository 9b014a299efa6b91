// Functions move, and no file changes but JSON.
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestCluster, type TestCluster } from "seamline/testing";
import { afterAll, beforeAll, expect, it } from "vitest";

type Lists = typeof import("../src/articles/lists.ts");
type Rendering = typeof import("../src/articles/markdown.ts");
type Segment = Record<string, Record<string, object>>;

const root = join(import.meta.dirname, "..");
let copy: string;

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), "conduit-moves-"));
  for (const name of [
    "src",
    "segments",
    "index.html",
    "seamline.json",
    "vite.config.ts",
    "package.json",
  ])
    await cp(join(root, name), join(copy, name), { recursive: true });
  process.env["CONDUIT_DATA"] = join(copy, "data/conduit");
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
});
afterAll(() => rm(copy, { recursive: true, force: true }));

/** Moves a line from one segment file to another one, as one does in an editor. */
async function move(module: string, name: string, from: string, to: string): Promise<void> {
  const path = (segment: string) => join(copy, `segments/${segment}.segment.json`);
  const read = async (segment: string): Promise<Segment> =>
    JSON.parse(await readFile(path(segment), "utf8"));
  const [source, target] = [await read(from), await read(to)];
  (target[module] ??= {})[name] = source[module]![name]!;
  delete source[module]![name];
  await writeFile(path(from), JSON.stringify(source));
  await writeFile(path(to), JSON.stringify(target));
}

const open = (): Promise<TestCluster> =>
  createTestCluster({
    root: copy,
    config: "seamline.json",
    nodes: { accounts: "accounts", articles: ["articles", "database"], social: "social" },
    page: ["page"],
  });

const places = (cluster: TestCluster, name: string): string[] =>
  cluster.calls(name).map(({ where }) => where);

it("listArticles moves to another node, and renderMarkdown into the page", async () => {
  const seen: unknown[] = [];
  for (const [articles, markdown] of [
    ["articles", "articles"],
    ["social", "page"],
  ] as const) {
    if (articles === "social") {
      await move("./articles/lists", "listArticles", "articles", "social");
      await move("./articles/markdown", "renderMarkdown", "articles", "page");
    }
    await using cluster = await open();
    const { listArticles } = await cluster.page.import<Lists>("./articles/lists");
    const { renderMarkdown } = await cluster.page.import<Rendering>("./articles/markdown");
    const list = await listArticles({ tag: "boats" });
    seen.push([
      list.articles.map(({ title, favoritesCount }) => [title, favoritesCount]),
      await renderMarkdown("**A** <b>seam</b> [out](javascript:alert(1)) ![in](data:x)"),
      (await cluster.fetch("/api/articles?tag=boats")).status,
    ]);
    expect(places(cluster, "articles/listArticles")).toEqual([articles, articles]);
    expect(places(cluster, "articles/renderMarkdown")).toEqual([markdown]);
  }
  expect(seen[1]).toEqual(seen[0]);
  expect(seen[0]).toEqual([
    [
      ["Planks remember the tree", 3],
      ["Glue is the last resort", 0],
    ],
    '<p><strong>A</strong> &lt;b&gt;seam&lt;/b&gt; <a href="">out</a> <img src="" alt="in" /></p>',
    200,
  ]);
  const changed: string[] = [];
  for (const file of await readdir(join(copy, "src"), { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const path = join(file.parentPath, file.name).slice(copy.length);
    if ((await readFile(copy + path, "utf8")) !== (await readFile(root + path, "utf8")))
      changed.push(path);
  }
  expect(changed).toEqual([]);
});
