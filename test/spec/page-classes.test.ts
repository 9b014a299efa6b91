// Classes that only pages import. A page sends their instances to procedures, so every service can
// rebuild them if it can load their modules.

import { mkdirSync, writeFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { anyPort, applicationOf, start } from "./_started.ts";

const files = {
  "index.html":
    '<!doctype html><html><body><script type="module" src="./src/main.ts"></script></body></html>\n',
  "src/main.ts": [
    'import { echo } from "./api/echo.ts";',
    'import { Extra } from "./other/extra.ts";',
    'import { Styled } from "./other/styled.ts";',
    'import { Widget } from "./other/widget.ts";',
    'import { Tab } from "./other/tab.ts";',
    "document.title = String(await echo([new Extra(1), new Styled(), new Widget(), new Tab()]));",
  ].join("\n"),
  "src/api/echo.ts": [
    "export async function echo(value: unknown): Promise<unknown> { return value; }",
    "export async function nameOf(value: object): Promise<string> { return value.constructor.name; }",
  ].join("\n"),
  "api.segment.json":
    '{ "./api/echo": { "echo": { "access": "public" }, "nameOf": { "access": "public" } } }',
  "src/other/extra.ts": "export class Extra { x = 1; constructor(readonly inner?: unknown) {} }\n",
  // The bundler turns it into what a server can load.
  "src/other/styled.ts":
    'import "./styled.css";\nimport icon from "./icon.svg";\nexport class Styled { a = 1; icon(): string { return icon; } }\n',
  "src/other/styled.css": ".styled { color: red; }\n",
  "src/other/icon.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>\n',
  // Has no file for Node.
  "src/other/widget.ts":
    'import { draw } from "in-browsers";\nexport class Widget { b = 1; draw(): void { draw(); } }\n',
  "node_modules/in-browsers/package.json":
    '{ "name": "in-browsers", "type": "module", "exports": { ".": { "browser": "./index.js" } } }',
  "node_modules/in-browsers/index.js": "export const draw = () => document.body.append('drawn');\n",
  "src/other/tab.ts": "const page = document.title;\nexport class Tab { c = page; }\n",
};

const headers = { "content-type": "application/json", "x-svc-data-encoding": "serialized" };
const form = (key: string): string =>
  `{"serialized":true,"name":"class","key":${key},"args":{},"fields":{}}`;
const post = async (
  url: string,
  body: string,
  more: Readonly<Record<string, string>> = {},
): Promise<string> => {
  const answer = await fetch(`${url}/rpc/api/nameOf`, {
    method: "POST",
    headers: { ...headers, ...more },
    body,
  });
  return `${answer.status} ${await answer.text()}`;
};
const nameOf = (url: string, key: string): Promise<string> => post(url, `{"value":${form(key)}}`);
const bySuperjson = (url: string, key: string): Promise<string> =>
  post(
    url,
    `{"json":{"value":{"args":{},"fields":{}}},"meta":{"values":{"value":[["class",${key}]]}}}`,
    {
      "x-svc-data-encoding": "superjson",
    },
  );

type Endpoints = { readonly url: string; readonly lines: () => readonly string[] };

const layouts: Readonly<
  Record<
    string,
    (application: ReturnType<typeof applicationOf>, middleware?: string) => Promise<Endpoints>
  >
> = {
  standalone: async (application) => {
    const server = await start(application, { mode: "standalone", url: anyPort });
    return { url: server.url, lines: () => server.lines };
  },
  "a node behind a gateway": async (application) => {
    const repository = await start(application, { mode: "repository", url: anyPort });
    const gateway = await start(application, { mode: "gateway", url: anyPort });
    const node = await start(application, {
      mode: "node",
      url: anyPort,
      gateway: gateway.url,
      repository: repository.url,
      segments: ["api"],
    });
    return { url: gateway.url, lines: () => node.lines };
  },
  "a gateway whose middleware looks at arguments": async (application) => {
    const repository = await start(application, { mode: "repository", url: anyPort });
    mkdirSync(application.path("layers"), { recursive: true });
    writeFileSync(
      application.path("layers/look.mjs"),
      "export default { async handle(fqn, version, args, headers, next) { args.get('value'); return await next(); } };\n",
    );
    const gateway = await start(application, {
      mode: "gateway",
      url: anyPort,
      repository: repository.url,
      middleware: ["./layers/look.mjs"],
    });
    await start(application, {
      mode: "node",
      url: anyPort,
      gateway: gateway.url,
      repository: repository.url,
      segments: ["api"],
    });
    return { url: gateway.url, lines: () => gateway.lines };
  },
};

describe.each(Object.entries(layouts))("a class that only a page imports, at %s", (_, open) => {
  it("a class that only a page imports is rebuilt, even if its module imports styles and images; what no server can load is refused, and the log says why (overview-16)", async () => {
    const application = applicationOf(files);
    await application.build();
    const { url, lines } = await open(application);
    expect(lines().join("\n")).not.toContain("can't be loaded");
    expect(await nameOf(url, '"other/Extra"')).toBe("200 Extra");
    expect(await nameOf(url, '"other/Styled"')).toBe("200 Styled");
    expect(await nameOf(url, '"other/Widget"')).toMatch(
      /^400 .*args\.value: there is no class 'other\/Widget'/,
    );
    expect(await nameOf(url, '"other/Tab"')).toMatch(
      /^400 .*args\.value: there is no class 'other\/Tab'/,
    );
    const log = lines().join("\n");
    expect(log).toMatch(
      /class 'other\/Widget' can't be loaded, so its instances are refused .*in-browsers/,
    );
    expect(log).toMatch(
      /class 'other\/Tab' can't be loaded, so its instances are refused .*document is not defined/,
    );
  });

  it.each([
    ["serialized", nameOf],
    ["superjson", bySuperjson],
  ])(
    "a class that only a page imports is loaded by a service's first message, however its key is escaped, in %s (types-7)",
    async (__, ask) => {
      const application = applicationOf(files);
      await application.build();
      const { url } = await open(application);
      const answer = await ask(url, '"oth\\u0065r\\/Extra"');
      expect(answer).toMatch(ask === nameOf ? /^200 Extra$/ : /^200 \{"json":"Extra"\}$/);
    },
  );
});

it("a gateway refuses only instances of the class that it can't load, and the log says why (overview-16)", async () => {
  // Nodes that load it at start keep running without it as well.
  const application = applicationOf({
    ...files,
    "src/other/label.ts": "const page = document.title;\nexport class Label { text = page; }\n",
    "src/api/typed.ts":
      'import type { Label } from "../other/label.ts";\nexport async function typed(label: Label): Promise<string> { return label.text; }\n',
    "typed.segment.json": '{ "./api/typed": { "typed": { "access": "public" } } }',
  });
  await application.build();
  const { url, lines } =
    await layouts["a gateway whose middleware looks at arguments"]!(application);
  expect(await nameOf(url, '"other/Extra"')).toBe("200 Extra");
  expect(await nameOf(url, '"other/Label"')).toMatch(/^400 .*there is no class 'other\/Label'/);
  expect(lines().join("\n")).toMatch(
    /class 'other\/Label' can't be loaded, so its instances are refused .*document is not defined/,
  );
});
