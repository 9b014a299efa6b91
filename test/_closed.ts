// An application with procedures that browsers can't call, in modules that pages load. Names that
// browsers mustn't see begin with s3cr3t.

export const stock = `export const unit = "m";
export async function price(sku: string): Promise<number> {
  return sku.length;
}
export async function s3cr3tReserve(s3cr3tSku: string, { s3cr3tCount = 1 }, ...s3cr3tRest: string[]): Promise<number> {
  return s3cr3tSku.length + s3cr3tCount + s3cr3tRest.length;
}
export { s3cr3tReserve as s3cr3tAlias };
export async function s3cr3tRecount(s3cr3tShelf: string): Promise<number> {
  return s3cr3tShelf.length;
}
export default async function s3cr3tDefault(s3cr3tValue: string): Promise<string> {
  return s3cr3tValue;
}
`;

export const closed: Readonly<Record<string, string>> = {
  "index.html":
    '<!doctype html><html><head><title>Shop</title></head><body><output></output><script type="module" src="/src/main.ts"></script></body></html>\n',
  "src/main.ts": `import { startClient } from "seamline/client";
import { price, unit } from "./shop/stock.ts";
import { filter } from "./ui/filter.ts";
await startClient("ui");
document.querySelector("output")!.textContent = \`\${await price("tweed")} \${unit} \${await filter()}\`;
`,
  "src/shop/stock.ts": stock,
  "src/ui/filter.ts": `export async function filter(): Promise<string> {
  return "visible-filter";
}
export async function s3cr3tOther(s3cr3tWord: string): Promise<string> {
  return s3cr3tWord;
}
`,
  "segments/s3cr3t-shop.segment.json": JSON.stringify({
    "./shop/stock": {
      price: { access: "public" },
      s3cr3tReserve: { access: "private" },
      s3cr3tRecount: { access: "protected" },
      default: { access: "private" },
    },
    "./ui/filter": { s3cr3tOther: { access: "private" } },
  }),
  "segments/ui.segment.json": '{ "./ui/filter": { "filter": { "access": "public" } } }',
};

/** The secret names in a text. */
export function secretsIn(text: string): string[] {
  return [...new Set(text.match(/s3cr3t\w*/g))].sort();
}

/** A text, plus the text of source maps inside it. */
export function withMaps(text: string): string {
  const maps = [...text.matchAll(/sourceMappingURL=data:[^,]*;base64,([\w+/=]+)/g)].map((match) =>
    Buffer.from(match[1] ?? "", "base64").toString("latin1"),
  );
  return [text, ...maps].join("\n");
}
