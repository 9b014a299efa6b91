// Detects mutants that don't compile, which needn't be caught by a test.
import { createRequire } from "node:module";
import { join } from "node:path";

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

  const serviceOf = (/** @type {string} */ room) => {
    const file = join(root, room, "tsconfig.json");
    const { fileNames, options } = ts.parseJsonConfigFileContent(
      ts.readConfigFile(file, ts.sys.readFile).config,
      ts.sys,
      join(root, room),
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
    const room = path.split("/", 1)[0] ?? "";
    let service = services.get(room);
    if (service === undefined) services.set(room, (service = serviceOf(room)));
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
