// Builds the package into dist/ (bundles, declarations, licences) and schema/. Builds beside the
// old folder and replaces it at the end, so that a failed build leaves the old one.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "..");
const made = join(root, ".build");
const rooms = ["src", "client", "server"];
const started = performance.now();
process.chdir(root);

/** @param {string} folder */
async function filesOf(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/**
 * Copies the declarations. The compiler leaves `.ts` in their imports; consumers have `.js` and
 * `.d.ts`.
 */
async function writeDeclarations() {
  const tsc = join(root, "node_modules/typescript-7/bin/tsc");
  await promisify(execFile)(process.execPath, [
    tsc,
    "-b",
    "server",
    "client",
    "server/vite",
    "server/testing",
  ]).catch((/** @type {{ stdout: string }} */ failed) => {
    throw new Error(`the types don't check:\n${failed.stdout}`);
  });
  for (const room of rooms) {
    for (const file of await filesOf(join(root, ".types", room))) {
      const source = file.replace(join(root, ".types"), root).replace(/\.d\.ts$/, ".ts");
      // Skips the compiler's own files and those of removed sources.
      if (!file.endsWith(".d.ts") || !existsSync(source)) continue;
      const target = file.replace(join(root, ".types"), join(made, "types"));
      await mkdir(dirname(target), { recursive: true });
      await writeFile(
        target,
        (await readFile(file, "utf8")).replaceAll(
          /(from |import\(|import )"(\.[^"]+)\.ts"/g,
          '$1"$2.js"',
        ),
      );
    }
  }
}

/**
 * Moves the files of pages into a folder that is named by a hash of all of them, so that browsers can keep them
 * for good. They import each other, so one hash covers them. Their plain names export the same again: a page has
 * one runtime, whichever name its modules import.
 */
async function hashPageFiles() {
  const folder = join(made, "svc");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".js")).toSorted();
  const texts = new Map();
  for (const name of names) texts.set(name, await readFile(join(folder, name), "utf8"));
  const hash = createHash("sha256")
    .update(JSON.stringify([...texts]))
    .digest("hex")
    .slice(0, 16);
  await mkdir(join(folder, hash));
  for (const [name, text] of texts) {
    const [, exported, other] =
      /export\s*\{([^}]*)\}(?:\s*from\s*"\.\/([^"]+)")?;?\s*$/.exec(text) ?? [];
    if (exported === undefined) throw new Error(`svc/${name} doesn't end with its exports`);
    const list = exported.split(",").map((item) => item.trim().split(" as ").at(-1));
    await rename(join(folder, name), join(folder, hash, name));
    await writeFile(
      join(folder, name),
      `export{${list.join(",")}}from"./${hash}/${other ?? name}";\n`,
    );
  }
}

async function keepDeclarations() {
  if (existsSync(join(root, "dist/types")))
    await cp(join(root, "dist/types"), join(made, "types"), { recursive: true });
}

/** Collects the licences of bundled packages, each once. */
async function writeLicences() {
  const lists = (await filesOf(made)).filter((file) => /[\\/]licenses\.\w+\.json$/.test(file));
  /** @type {Map<string, { name: string, version: string, identifier?: string, text?: string }>} */
  const found = new Map();
  for (const file of lists) {
    for (const entry of JSON.parse(await readFile(file, "utf8")))
      found.set(`${entry.name} ${entry.version}`, entry);
    await rm(file);
  }
  const texts = [...found.keys()]
    .toSorted()
    .map((key) => `${key} (${found.get(key)?.identifier})\n\n${found.get(key)?.text ?? ""}\n`);
  const head = "Seamline's files hold parts of these packages:\n\n";
  await writeFile(join(made, "THIRD-PARTY.txt"), head + texts.join(`\n${"-".repeat(80)}\n\n`));
}

/**
 * Writes the JSON Schemas into the package's root, as files refer to their path in node_modules.
 */
async function writeSchemas() {
  const [{ load }, { createSchemas }] = await Promise.all([
    import("./typescript.mjs"),
    import("./json-schemas.mjs"),
  ]);
  const written = createSchemas(await load("server/config/json-schema.ts"));
  await mkdir(join(made, "schema"), { recursive: true });
  for (const [name, schema] of Object.entries(written))
    await writeFile(
      join(made, "schema", `${name}.json`),
      `${JSON.stringify(schema, undefined, 2)}\n`,
    );
}

/**
 * Whether no input of the package is newer than the build. A folder is newer once a file was removed from it, and the
 * list of dependencies once one of them was updated.
 */
async function isFresh() {
  const built = await stat(join(root, "dist/main.js")).catch(() => undefined);
  if (built === undefined || !existsSync(join(root, "schema/config.json"))) return false;
  const files = ["vite.config.ts", "tsconfig.base.json", "package.json", "package-lock.json"];
  const inputs = [...files.map((name) => join(root, name)), import.meta.filename];
  // A build can do without the console.
  const folders = [...rooms, "console"].filter((folder) => existsSync(join(root, folder)));
  for (const folder of folders) {
    const entries = await readdir(join(root, folder), { recursive: true });
    inputs.push(join(root, folder), ...entries.map((entry) => join(root, folder, entry)));
  }
  const ages = await Promise.all(inputs.map(async (file) => (await stat(file)).mtimeMs));
  return Math.max(...ages) <= built.mtimeMs;
}

const ifNeeded = process.argv.includes("--if-needed");
if (ifNeeded && (await isFresh())) process.exit(0);
if (ifNeeded && !existsSync(join(root, "node_modules/vite"))) {
  console.warn(
    "dist/ is not built: that takes the development dependencies (npm ci without --omit=dev)",
  );
  process.exit(0);
}
async function build() {
  const { createBuilder } = await import("vite");
  await rm(made, { recursive: true, force: true });
  // `--bundles` keeps the old declarations, which is quicker for trying something by hand.
  const declarations = process.argv.includes("--bundles")
    ? keepDeclarations()
    : writeDeclarations();
  const bundles = createBuilder({ root }).then((builder) => builder.buildApp());
  const failed = (await Promise.allSettled([declarations, bundles, writeSchemas()])).filter(
    (result) => result.status === "rejected",
  );
  if (failed.length > 0)
    throw new Error(failed.map(({ reason }) => String(reason?.message ?? reason)).join("\n"));
  await writeLicences();
  await hashPageFiles();
  await chmod(join(made, "cli.js"), 0o755);
}

/** Replaces the old build with the new one. */
async function replace() {
  const old = join(root, ".build-old");
  await rm(join(root, "schema"), { recursive: true, force: true });
  await rename(join(made, "schema"), join(root, "schema"));
  await rm(old, { recursive: true, force: true });
  await rename(join(root, "dist"), old).catch((/** @type {NodeJS.ErrnoException} */ error) => {
    if (error.code !== "ENOENT") throw error;
  });
  await rename(made, join(root, "dist"));
  await rm(old, { recursive: true, force: true });
}

try {
  await build();
  await replace();
  console.log(`dist/ built in ${Math.round(performance.now() - started)} ms`);
} catch (error) {
  await rm(made, { recursive: true, force: true });
  console.error(
    `The package was not built: ${error instanceof Error ? error.message : String(error)}`,
  );
  process.exitCode = 1;
}
