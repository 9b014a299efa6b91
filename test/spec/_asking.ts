// The smallest application with a page that calls a procedure.

import type { Files } from "../build/_fixture.ts";

export const asking: Files = {
  "index.html":
    '<!doctype html><html><head><title>Shop</title></head><body><script type="module" src="/src/main.ts"></script></body></html>\n',
  "src/main.ts": 'import { ask } from "./ask.ts";\ndocument.title = await ask();\n',
  "src/ask.ts": 'export async function ask(): Promise<string> {\n  return "asked";\n}\n',
  "ask.segment.json": '{ "./ask": { "ask": { "access": "public" } } }\n',
};

/** The headers of a browser that opens an address. */
export const asBrowser = { accept: "text/html", "sec-fetch-dest": "document" };
