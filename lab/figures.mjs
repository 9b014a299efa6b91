// `npm run figures`: sizes of the code, of the two installs, and of the files that a browser loads.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const root = join(import.meta.dirname, "..");
const code = /\.(ts|tsx|mjs|js|css|html)$/;

/**
 * @param {string} folder
 * @param {(name: string) => boolean} enter
 * @returns {string[]}
 */
function filesIn(folder, enter) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return enter(entry.name) ? filesIn(path, enter) : [];
    return entry.isFile() ? [path] : [];
  });
}

/** @param {number[]} values */
const sum = (values) => values.reduce((total, value) => total + value, 0);

/** @param {string} folder */
const bytesIn = (folder) => sum(filesIn(folder, () => true).map((file) => lstatSync(file).size));

/** @param {number} bytes */
const mega = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

/** Packages installed in a folder, without those of other platforms and links to workspaces.
 * @param {string} folder
 */
function packagesIn(folder) {
  /** @type {{ packages: Record<string, { link?: boolean }> }} */
  const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
  return Object.entries(packages).filter(
    ([path, entry]) =>
      path.includes("node_modules/") && !entry.link && existsSync(join(folder, path)),
  ).length;
}

const rows = ["src", "client", "server", "console", "test", "e2e", "demo", "lab", "scripts"].map(
  (room) => {
    const own = filesIn(
      join(root, room),
      (name) => !/^(node_modules|dist|\..*)$/.test(name),
    ).filter((file) => code.test(file));
    const files = own.map((file) => ({
      file: file.slice(root.length + 1),
      lines: readFileSync(file, "utf8").split("\n").length - 1,
    }));
    const sorted = files.toSorted((a, b) => a.lines - b.lines);
    const largest = sorted.at(-1);
    return {
      room,
      files: files.length,
      lines: sum(files.map(({ lines }) => lines)),
      median: sorted[Math.floor(sorted.length / 2)]?.lines ?? 0,
      largest: largest ? `${largest.file} (${largest.lines})` : "",
    };
  },
);
console.table(rows);

const folder = join(root, "node_modules/.cache/seamline-figures");
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
/** @param {...string} words */
const npm = (...words) =>
  execFileSync("npm", [...words, "--loglevel=error", "--no-audit", "--no-fund"], {
    cwd: folder,
    encoding: "utf8",
  });
const tarball = npm("pack", root, "--ignore-scripts").trim().split("\n").at(-1) ?? "";
writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
npm("install", `./${tarball}`, "--omit=dev");
console.log(
  `package: ${mega(lstatSync(join(folder, tarball)).size)} packed, ${mega(bytesIn(join(folder, "node_modules/seamline")))} unpacked`,
);
const installed = packagesIn(folder);
console.log(
  `production install: ${mega(bytesIn(join(folder, "node_modules")))}, ${installed} packages (seamline among them)`,
);
rmSync(folder, { recursive: true });

const modules = filesIn(join(root, "node_modules"), (name) => name !== ".cache");
console.log(
  `development install: ${mega(sum(modules.map((file) => lstatSync(file).size)))}, ${packagesIn(root)} packages`,
);

const [runtime = ""] = readdirSync(join(root, "dist/svc")).filter((name) =>
  /^[0-9a-f]{16}$/.test(name),
);
for (const name of ["client", "remote", "superjson", "hooks"]) {
  const text = readFileSync(join(root, "dist/svc", runtime, `${name}.js`));
  console.log(`/svc/${name}.js: ${text.length} bytes, ${gzipSync(text).length} gzipped`);
}
