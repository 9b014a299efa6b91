import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { programMemory } from "../../../server/types/programs.ts";
import {
  type ReadTypes,
  readTypes,
  type WantedClass,
  type WantedFunction,
} from "../../../server/types/read-types.ts";
import { root, ts } from "../../_sources.ts";

/** Parsed once for all tests of a file: the compiler's libraries take most of the time. */
const parsed = programMemory();

export const strictConfig = {
  compilerOptions: {
    target: "ES2023",
    module: "ESNext",
    moduleResolution: "Bundler",
    lib: ["ES2023"],
    types: [],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    paths: {
      seamline: [join(root, "src/index.ts")],
      "seamline/types": [join(root, "src/types/constraints.ts")],
    },
  },
  include: ["src"],
};

type Files = Readonly<Record<string, string | object>>;

/** Writes an application into a folder that has this project's packages. */
export function folderOf(files: Files): { readonly folder: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "seamline-types-"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  for (const [name, content] of Object.entries({ "tsconfig.json": strictConfig, ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(
      join(folder, name),
      typeof content === "string" ? content : JSON.stringify(content),
    );
  }
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}

export type Wanted = Omit<WantedFunction, "id">;

/** The reader's result by function: `file#export`, or with the offset of their code. */
export function read(
  files: Files,
  wanted: readonly (string | (Wanted & { readonly id: string }))[],
  aliases: readonly { find: string; replacement: string }[] = [],
  classes: readonly WantedClass[] = [],
): Required<ReadTypes> {
  const { folder, remove } = folderOf(files);
  try {
    return readTypes(
      ts,
      wanted.map((one) => {
        if (typeof one !== "string") return { ...one, file: join(folder, one.file) };
        const [file = "", name = ""] = one.split("#");
        return { id: name, file: join(folder, file), export: name };
      }),
      {
        root: folder,
        memory: { ...parsed, programs: new Map() },
        aliases,
        contract: true,
        classes: classes.map(({ file, ...known }) => ({ ...known, file: join(folder, file) })),
        classKey: (file, name) => (file.startsWith(`${folder}/src/`) ? `app/${name}` : undefined),
        judgePattern: (source) =>
          source.includes("+)+") ? "a pattern takes exponential time" : undefined,
      },
    ) as Required<ReadTypes>;
  } finally {
    remove();
  }
}

/** Of an application that knows the types of the platform, as Node has it. */
export const platformConfig = {
  ...strictConfig,
  compilerOptions: {
    ...strictConfig.compilerOptions,
    lib: ["ES2023", "DOM", "DOM.Iterable"],
    types: ["node"],
  },
};

/** The model of each of several expressions of types, after declarations that they share. */
export function readAll(declarations: string, types: readonly string[]): ReadTypes {
  const source = types.map((type, index) => `export async function f${index}(x: ${type}) {}`);
  return read(
    {
      "tsconfig.json": platformConfig,
      "src/forms.ts": `${declarations}\n${source.join("\n")}\n`,
    },
    types.map((_, index) => `src/forms.ts#f${index}`),
  );
}
