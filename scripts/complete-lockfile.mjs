// `npm run lock`, or `npm run lock -- examples/conduit`, after dependencies have changed. If npm can't
// fetch packages of other platforms, it leaves them out of the lockfile, and `npm ci` then rejects
// the file. This adds them: the packages that depend on them name their versions, and their names
// contain the platforms.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const file = join(import.meta.dirname, "..", process.argv[2] ?? "", "package-lock.json");
/** @typedef {{ version?: string, dev?: boolean, optional?: boolean, os?: string[], cpu?: string[], libc?: string[], optionalDependencies?: Record<string, string> }} Entry */
/** @type {{ packages: Record<string, Entry> }} */
const lock = JSON.parse(readFileSync(file, "utf8"));
const platform =
  /[/-](aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)-(arm64|arm|x64|ia32|loong64|mips64el|ppc64|riscv64|s390x)(?:-(gnu|musl)\w*)?/;

for (const [path, { dev, optionalDependencies = {} }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const place = `node_modules/${name}`;
    const found = platform.exec(name);
    if (lock.packages[place] || lock.packages[`${path}/${place}`] || !found || !/^\d/.test(version))
      continue;
    const [, os = "", cpu = "", libc] = found;
    /** @type {Entry} */
    const entry = { version, cpu: [cpu], ...(dev ? { dev } : {}) };
    if (libc) entry.libc = [libc === "gnu" ? "glibc" : libc];
    lock.packages[place] = { ...entry, optional: true, os: [os] };
    console.log(`added ${name} ${version}`);
  }
}

const packages = Object.entries(lock.packages).toSorted(([a], [b]) => a.localeCompare(b, "en"));
writeFileSync(
  file,
  `${JSON.stringify({ ...lock, packages: Object.fromEntries(packages) }, undefined, 2)}\n`,
);
