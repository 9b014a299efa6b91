// Development servers, `seamline dev` and plain `vite`, don't name what browsers can't call.

import { expect, it, onTestFinished, vi } from "vitest";
import { createServer } from "vite";

import { seamline } from "../../server/vite/vite-plugin.ts";
import { closed, secretsIn, withMaps } from "../_closed.ts";
import { freePort } from "../_free-port.ts";
import { createApplication, develop, eventually } from "./_session.ts";

/** The answer to a request for a segment file, which names all procedures. */
async function segmentFile(url: string): Promise<number[]> {
  const paths = ["", "?raw", "?import", "?url"].map(
    (query) => `${url}/segments/s3cr3t-shop.segment.json${query}`,
  );
  return await Promise.all(paths.map(async (path) => (await fetch(path)).status));
}

/** Everything that a page gets or can request of the modules. */
async function fetched(url: string, root: string): Promise<string> {
  const modules = ["src/main.ts", "src/shop/stock.ts", "src/shop/index.ts", "src/ui/filter.ts"];
  const parts = modules.flatMap((one) =>
    ["", "?seamline=shared", "?seamline=body", "?seamline=code", "?raw", "?url", "?import"].map(
      (query) => one + query,
    ),
  );
  const paths = [
    "",
    "svc/manifest.json",
    ".seamline/modules.d.ts",
    ...parts,
    `@fs${root}/src/shop/stock.ts`,
  ];
  const texts: string[] = [];
  for (const path of paths) {
    const answer = await fetch(`${url}/${path}`, { headers: { accept: "*/*" } });
    texts.push(`${path} ${answer.status}\n${withMaps(await answer.text())}`);
  }
  return texts.join("\n");
}

const barrel = {
  "src/shop/index.ts": 'export { default, price, s3cr3tReserve, unit } from "./stock.ts";\n',
  "src/main.ts": closed["src/main.ts"]?.replace("./shop/stock.ts", "./shop/index.ts") ?? "",
};

it("`seamline dev` serves no names of what browsers can't call", async () => {
  const running = await develop({ ...closed, ...barrel });
  const text = await fetched(running.session.url, running.root);
  expect(secretsIn(text)).toEqual([]);
  expect(text).toContain("shop/price");
  expect(text).toContain("visible-filter");
  expect(await segmentFile(running.session.url)).toEqual([403, 403, 403, 403]);
});

it("`vite` serves no names of what browsers can't call", async () => {
  vi.stubEnv("VITEST", undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { root } = createApplication({ ...closed, ...barrel });
  const server = await createServer({
    root,
    configFile: false,
    logLevel: "silent",
    server: { port: await freePort(), host: "127.0.0.1" },
    plugins: [seamline()],
  });
  onTestFinished(async () => await server.close());
  await server.listen();
  const url = server.resolvedUrls?.local[0]?.replace(/\/$/, "") ?? "";
  const text = await fetched(url, root);
  expect(secretsIn(text)).toEqual([]);
  expect(text).toContain("shop/price");
  expect(await segmentFile(url)).toEqual([403, 403, 403, 403]);
});

it("pages get a new face when they gain or lose access to a procedure", async () => {
  const running = await develop(closed);
  const face = async () => await running.text("/src/shop/stock.ts");
  const holder = async () => await running.text("/src/ui/filter.ts?seamline=body");
  expect(secretsIn(`${await face()}${await holder()}`)).toEqual([]);

  const segment = "segments/s3cr3t-shop.segment.json";
  running.edit(
    segment,
    '"s3cr3tReserve":{"access":"private"}',
    '"s3cr3tReserve":{"access":"public"}',
  );
  const open = await eventually(face, (text) => text.includes("shop/s3cr3tReserve"));
  expect(secretsIn(open)).toEqual([
    "s3cr3tAlias",
    "s3cr3tCount",
    "s3cr3tReserve",
    "s3cr3tRest",
    "s3cr3tSku",
  ]);

  // It moves to the page's own segment, still private.
  running.edit(segment, ',"./ui/filter":{"s3cr3tOther":{"access":"private"}}', "");
  running.edit("segments/ui.segment.json", "} }", '}, "s3cr3tOther": { "access": "private" } }');
  expect(secretsIn(await eventually(holder, (text) => text.includes("s3cr3tOther")))).toContain(
    "s3cr3tOther",
  );
  const manifest = await running.get("/svc/manifest.json");
  expect(JSON.stringify(manifest.value)).toContain('"fqn":"ui/s3cr3tOther"');

  running.edit(
    segment,
    '"s3cr3tReserve":{"access":"public"}',
    '"s3cr3tReserve":{"access":"private"}',
  );
  expect(secretsIn(await eventually(face, (text) => !text.includes("s3cr3t")))).toEqual([]);
});

it("a page has a function for a private procedure only while its own segment names it", async () => {
  const running = await develop({ ...closed, ...barrel });
  const texts = async () =>
    `${await running.text("/src/shop/stock.ts")}${await running.text("/src/shop/index.ts")}`;
  expect(secretsIn(await texts())).toEqual([]);
  running.edit("src/main.ts", "import { price, unit }", "import { price, s3cr3tReserve, unit }");
  running.edit("src/main.ts", "await startClient", "void s3cr3tReserve;\nawait startClient");
  // Of the two files one may be newer than the other for a moment.
  const refusal = "Procedure 's3cr3tReserve' not found: pages can't call it";
  const named = await eventually(texts, (text) => text.includes(refusal));
  expect(named).toContain(refusal);
  expect(secretsIn(named)).toEqual(["s3cr3tReserve"]);
  running.edit("src/main.ts", "price, s3cr3tReserve, unit", "price, unit");
  running.edit("src/main.ts", "void s3cr3tReserve;\n", "");
  expect(secretsIn(await eventually(texts, (text) => secretsIn(text).length === 0))).toEqual([]);
});
