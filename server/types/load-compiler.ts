// The application's own compiler, by which the types of parameters are read. It is a development
// dependency: a production install has none.

import { createRequire } from "node:module";
import { join } from "node:path";
import type { Compiler } from "./programs.ts";

/** The compiler, and what people install beside TypeScript 7, whose package has no interface for programs. */
const names = ["typescript", "@typescript/typescript6"];

const install = 'npm install --save-dev typescript@6, or say "validate": false';

/** The first compiler of the application's that can be used. Throws an error that says what to install. */
export function loadCompiler(root: string): Compiler {
  const require = createRequire(join(root, "package.json"));
  const found: string[] = [];
  for (const name of names) {
    const compiler = attempt(require, name);
    if (compiler === undefined) continue;
    const { version } = compiler;
    if (isUsable(compiler)) return compiler;
    found.push(version);
  }
  const [version] = found;
  if (version === undefined)
    throw new Error(
      `Types of parameters are read by TypeScript 5.9 or 6, and ${root} has none: ${install}`,
    );
  throw new Error(
    Number.parseInt(version, 10) >= 7
      ? `Types of parameters are read by TypeScript 5.9 or 6, as version ${version}, which ${root} has, lets no program read types yet: npm install --save-dev @typescript/typescript6, which stands beside it, or say "validate": false`
      : `Types of parameters are read by TypeScript 5.9 or 6, and ${root} has ${version}: ${install}`,
  );
}

function attempt(require: NodeJS.Require, name: string): Compiler | undefined {
  let path: string;
  try {
    path = require.resolve(name);
  } catch {
    return undefined;
  }
  return require(path) as Compiler;
}

function isUsable({ version, createProgram }: Partial<Compiler> & { version: string }): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return createProgram !== undefined && (major === 6 || (major === 5 && minor >= 9));
}
