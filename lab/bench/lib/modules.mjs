// An application of many modules as people write them, for benches of the build and of development:
// 2.7 KB each, of interfaces, tables and small functions. Every third has one procedure or two, and
// imports what the two behind it export.

/** How many modules belong to one module with procedures. */
export const group = 3;

/** Modules in a folder. */
const folderSize = 25;

/** A module's path below the source folder, without extension. @param {number} index */
export const partOf = (index) => `area${Math.floor(index / folderSize)}/part${index}`;

/** The path of a procedure. @param {number} index */
export const procedureOf = (index) => `area${Math.floor(index / folderSize)}/sum${index}`;

/** The modules with procedures. @param {number} modules */
export const roots = (modules) =>
  Array.from({ length: Math.floor(modules / group) }, (_, at) => at * group);

const from = (/** @type {number} */ index) => `"../${partOf(index)}.ts"`;

/** The code that each module has. @param {number} index */
const common = (index) => `
/** A place that goods of group ${index} are kept at. */
export interface Place${index} {
  readonly street: string;
  readonly city: string;
  readonly zip: string;
  readonly country: "at" | "de" | "fr" | "it";
  note?: string;
}

/** One line of an order. */
export interface Line${index} {
  readonly sku: string;
  readonly metres: number;
  readonly colour: "blue" | "green" | "plain" | "red";
  readonly tags: readonly string[];
  readonly options?: Record<string, boolean | number | string>;
}

export type State${index} =
  | { readonly kind: "open"; readonly since: Date }
  | { readonly kind: "paid"; readonly by: "card" | "cash"; readonly amount: number }
  | { readonly kind: "sent"; readonly parcels: readonly string[] };

const prices${index}: Readonly<Record<Line${index}["colour"], number>> = {
  blue: ${index + 3},
  green: ${index + 5},
  plain: ${index + 1},
  red: ${index + 8},
};

// Longer pieces are cheaper, as they are cut less often.
function reductionOf(metres: number): number {
  if (metres >= 15) return 0.9;
  return metres >= 5 ? 0.95 : 1;
}

function priceOf(line: Line${index}): number {
  const price = prices${index}[line.colour];
  const share = line.tags.includes("sale") ? 0.8 : 1;
  return Math.round(price * line.metres * share * reductionOf(line.metres) * 100) / 100;
}

/** The lines by their colour, the dearest first. */
function byColour(lines: readonly Line${index}[]): Map<string, Line${index}[]> {
  const groups = new Map<string, Line${index}[]>();
  for (const line of lines) {
    const group = groups.get(line.colour) ?? [];
    group.push(line);
    groups.set(line.colour, group);
  }
  for (const group of groups.values()) group.sort((a, b) => priceOf(b) - priceOf(a));
  return groups;
}

/** A line's space on a shelf; those with options are packed by themselves. */
function shelfOf(line: Line${index}): "own" | "shared" {
  const options = Object.entries(line.options ?? {}).filter(([, value]) => value !== false);
  return options.length > 0 || line.metres > 30 ? "own" : "shared";
}

function labelOf({ street, city, zip, country, note }: Place${index}): string {
  const lines = [street, \`\${zip} \${city}\`, country.toUpperCase()];
  if (note !== undefined && note.trim() !== "") lines.push(\`(\${note.trim()})\`);
  return lines.join(", ");
}
`;

/** A module without procedures. @param {number} index @param {number} modules */
function plainModule(index, modules) {
  const next = index + 1;
  const others = next < modules ? `import type { Place${next} } from ${from(next)};\n` : "";
  const place = next < modules ? `Place${index} | Place${next}` : `Place${index}`;
  return `${others}${common(index)}
export const step${index} = (given: number): number => given + ${index} - ${index};

export function total${index}(lines: readonly Line${index}[]): number {
  let sum = 0;
  for (const group of byColour(lines).values())
    sum += group.reduce((all, line) => all + priceOf(line) + (shelfOf(line) === "own" ? 2 : 0), 0);
  return sum;
}

export function describe${index}(state: State${index}, place: ${place}): string {
  switch (state.kind) {
    case "open":
      return \`open since \${state.since.toISOString()} for \${labelOf(place)}\`;
    case "paid":
      return \`\${state.amount} by \${state.by}\`;
    default:
      return \`\${state.parcels.length} parcels\`;
  }
}
`;
}

/** A module with a procedure, and every second one with two. @param {number} index */
function rootModule(index) {
  const others = Array.from({ length: group - 1 }, (_, offset) => index + offset + 1);
  const imports = others
    .map((other) => `import { describe${other}, step${other} } from ${from(other)};\n`)
    .join("");
  const [first] = others;
  const more = `
/** An order's price, and the work that it needs. */
export async function order${index}(
  lines: Line${index}[],
  place: Place${index},
  state: State${index} = { kind: "open", since: new Date(0) },
): Promise<{ total: number; label: string; next: string }> {
  const prices = [...byColour(lines.filter((line) => shelfOf(line) === "shared")).values()].flatMap((group) => group.map(priceOf));
  const total = prices.reduce((sum, price) => sum + price, 0);
  return { total, label: labelOf(place), next: describe${first}(state, place) };
}
`;
  return `${imports}${common(index)}
export async function sum${index}(given: number): Promise<number> {
  return (${others.map((other) => `step${other}(given)`).join(" + ")}) * 1;
}
${hasTwo(index) ? more : `\nexport const names${index} = (places: Place${index}[]): string[] => places.map(labelOf);\n`}`;
}

/** Whether a module has two procedures. @param {number} index */
const hasTwo = (index) => index % (2 * group) === 0;

const tsconfig = {
  compilerOptions: {
    target: "ES2022",
    module: "ESNext",
    moduleResolution: "bundler",
    lib: ["ES2023", "DOM", "DOM.Iterable"],
    types: [],
    strict: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: true,
  },
  include: ["src"],
};

const page = '<!doctype html><script type="module" src="/src/main.ts"></script>\n';

/** @param {number} modules @returns {Record<string, string>} */
function parts(modules) {
  const all = new Set(roots(modules));
  const files = Array.from({ length: modules }, (_, index) => [
    `src/${partOf(index)}.ts`,
    all.has(index) ? rootModule(index) : plainModule(index, modules),
  ]);
  return { ...Object.fromEntries(files), "tsconfig.json": JSON.stringify(tsconfig) };
}

/** How many modules with procedures the page imports. */
const used = 30;

/**
 * Every fourth module with procedures runs in the page, which imports some of them, and of the others.
 * @param {number} modules
 * @param {Record<string, unknown>} [settings] of its configuration
 */
export function manyModules(modules, settings = {}) {
  /** @type {Record<string, Record<string, object>>} */
  const segments = { page: {}, office: {} };
  for (const [at, index] of roots(modules).entries()) {
    const names = hasTwo(index) ? [`sum${index}`, `order${index}`] : [`sum${index}`];
    const home = segments[at % 4 === 0 ? "page" : "office"] ?? {};
    home[`./${partOf(index)}`] = Object.fromEntries(
      names.map((name) => [name, { access: "public" }]),
    );
  }
  const imported = roots(modules).slice(0, used);
  const imports = imported.map((at) => `import { sum${at} } from "./${partOf(at)}.ts";\n`);
  return {
    ...parts(modules),
    "index.html": page,
    "src/main.ts": `import { startClient } from "seamline/client";
${imports.join("")}await startClient("page");
globalThis.all = [${imported.map((at) => `sum${at}`).join(", ")}];
globalThis.sum0 = sum0;
`,
    ...(Object.keys(settings).length > 0 && {
      "seamline.json": JSON.stringify({
        mode: "standalone",
        url: "http://127.0.0.1:0",
        ...settings,
      }),
    }),
    ...Object.fromEntries(
      Object.entries(segments).map(([name, content]) => [
        `segments/${name}.segment.json`,
        JSON.stringify(content),
      ]),
    ),
  };
}

/**
 * The same modules for Vite alone: a page that imports all procedures, and a server that does.
 * @param {number} modules
 */
export function manyModulesForVite(modules) {
  const all = roots(modules);
  const imports = all.map((at) => `import { sum${at} } from "./${partOf(at)}.ts";\n`).join("");
  const list = `[${all.map((at) => `sum${at}`).join(", ")}]`;
  return {
    ...parts(modules),
    "index.html": page,
    "src/main.ts": `${imports}globalThis.all = ${list};\n`,
    "files.mjs":
      "export default { build: { rolldownOptions: { output: { preserveModules: true } } } };\n",
    "src/server.ts": `${imports}export const all = ${list};\n`,
  };
}
