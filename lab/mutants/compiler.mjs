// Detects mutants that don't compile, which needn't be caught by a test.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** @type {typeof import("typescript")} */
const ts = createRequire(import.meta.url)("typescript");

// Ignores empty statements and unused or unreachable code, which aren't type errors.
const untold = new Set([1313, 6133, 6138, 6192, 6196, 6198, 7027, 7028, 7029, 7030]);

/**
 * Creates a function that tells whether the compiler rejects a file with this text.
 * @param {string} root
 * @returns {(path: string, text: string) => string | undefined} The first error.
 */
export function createCompiler(root) {
  /** @type {Map<string, import("typescript").LanguageService>} */
  const services = new Map();
  /** @type {Map<string, { text: string, version: number }>} */
  const replaced = new Map();
  let version = 0;

  /** The nearest folder with a project of its own. */
  const projectOf = (/** @type {string} */ path) => {
    let folder = dirname(path);
    while (!existsSync(join(root, folder, "tsconfig.json"))) folder = dirname(folder);
    return folder;
  };

  const serviceOf = (/** @type {string} */ folder) => {
    const file = join(root, folder, "tsconfig.json");
    const { fileNames, options } = ts.parseJsonConfigFileContent(
      ts.readConfigFile(file, ts.sys.readFile).config,
      ts.sys,
      join(root, folder),
    );
    return ts.createLanguageService({
      ...ts.sys,
      useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
      getCompilationSettings: () => ({ ...options, noEmit: true, composite: false }),
      getScriptFileNames: () => fileNames,
      getScriptVersion: (name) => String(replaced.get(name)?.version ?? 0),
      getScriptSnapshot: (name) => {
        const text = replaced.get(name)?.text ?? ts.sys.readFile(name);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getDefaultLibFileName: ts.getDefaultLibFilePath,
    });
  };

  return (path, text) => {
    const folder = projectOf(path);
    let service = services.get(folder);
    if (service === undefined) services.set(folder, (service = serviceOf(folder)));
    const name = join(root, path);
    version += 1;
    replaced.set(name, { text, version });
    try {
      const error = service
        .getSemanticDiagnostics(name)
        .find(
          ({ category, code }) => category === ts.DiagnosticCategory.Error && !untold.has(code),
        );
      return error && `TS${error.code}: ${ts.flattenDiagnosticMessageText(error.messageText, " ")}`;
    } finally {
      replaced.delete(name);
    }
  };
}
