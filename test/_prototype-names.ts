// An application whose modules, exports, parameters, segments and classes have names that every
// object inherits.

export const names: readonly string[] = [
  "valueOf",
  "toString",
  "constructor",
  "hasOwnProperty",
  "__proto__",
];

const next = (name: string): string => names[(names.indexOf(name) + 1) % names.length] as string;

/**
 * A procedure of each name, in a module and a segment of this name. Returns its name and the next
 * one's answer; the last takes an instance.
 */
function moduleOf(name: string): string {
  return `import * as classes from "./propertyIsEnumerable.ts";
import { ${next(name)} as away } from "./${next(name)}.ts";

export async function ${name}(toString: string | classes.${name}, valueOf = 0): Promise<classes.${name}> {
  const text = typeof toString === "string" ? toString : \`\${toString.text} of a \${toString instanceof classes.${name}}\`;
  return new classes.${name}(\`${name} \${valueOf === 0 ? text : (await away(text, valueOf - 1)).text}\`);
}
`;
}

const classes = names
  .map(
    (name) =>
      `export class ${name} {\n  readonly text: string;\n  constructor(text: string) {\n    this.text = text;\n  }\n}\n`,
  )
  .join("");

/** The answer of a procedure whose call goes on through so many others. */
export function through(name: string, others: number): string {
  const way = [name];
  while (way.length <= others) way.push(next(way.at(-1) as string));
  return `${way.join(" ")} end`;
}

/** The text that the page shows. */
export const shown: string = [
  ...names.map((name) => through(name, 2)),
  ...names.map((name) => `${name} made of a true`),
].join(", ");

/** `toString` is the page's segment; another segment has its procedure on servers too. */
export const prototypeNames: Readonly<Record<string, string>> = {
  "index.html":
    '<!doctype html><html><head><title>Names</title></head><body><output></output><script type="module" src="/src/main.ts"></script></body></html>\n',
  "src/main.ts": `import { startClient } from "seamline/client";
import * as classes from "./propertyIsEnumerable.ts";
${names.map((name, at) => `import { ${name} as imported${at} } from "./${name}.ts";`).join("\n")}

const client = await startClient("toString");
const faces = [${names.map((_, at) => `imported${at}`).join(", ")}] as unknown as ((one: unknown, left?: number) => Promise<{ text: string }>)[];
const all: string[] = [];
for (const name of ${JSON.stringify(names)}) {
  const module = (await client.import(\`./\${name}.js\`)) as unknown as Record<string, (typeof faces)[number]>;
  all.push((await module[name]!("end", 2)).text);
}
for (const [at, made] of [${names.map((name) => `new classes.${name}("made")`).join(", ")}].entries()) all.push((await faces[at]!(made)).text);
document.querySelector("output")!.textContent = all.join(", ");
`,
  "src/propertyIsEnumerable.ts": classes,
  ...Object.fromEntries(names.map((name) => [`src/${name}.ts`, moduleOf(name)])),
  "segments/isPrototypeOf.segment.json": '{ "./toString": { "toString": { "access": "public" } } }',
  ...Object.fromEntries(
    names.map((name) => [
      `segments/${name}.segment.json`,
      JSON.stringify({ [`./${name}`]: JSON.parse(`{"${name}":{"access":"public"}}`) }),
    ]),
  ),
};
