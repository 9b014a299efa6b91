// Which files of the package each role loads until it is ready, and their bytes. A file costs a start
// about as much as 10 KB of code, so this explains the CPU time of row P7.
// node lab/bench/loaded.mjs [FOLDER of another checkout], after npm run build

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { service } from "./lib/application.mjs";
import { stockApplication } from "./rows/_stock.mjs";

const app = await stockApplication(process.argv[2]);
const ofPackage = pathToFileURL(join(app.checkout, "dist/")).href;

/** Starts a service whose process writes what V8 has loaded when it ends. @param {string} mode @param {object} [config] */
async function started(mode, config = {}) {
  const folder = mkdtempSync(join(tmpdir(), "seamline-loaded-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const running = await service(app, mode, config, {
    env: { ...process.env, NODE_V8_COVERAGE: folder },
  });
  return { ...running, mode, folder };
}

/** @param {Awaited<ReturnType<typeof started>>} service */
async function report({ mode, folder, stop }) {
  await stop();
  const urls = readdirSync(folder).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(folder, name), "utf8"));
    return result.map((/** @type {{ url: string }} */ { url }) => url);
  });
  const files = urls.filter((url) => url.startsWith(ofPackage)).map(fileURLToPath);
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  const names = files.map((file) => basename(file)).toSorted();
  console.log(
    `${mode}: ${files.length} files, ${Math.round(bytes / 1_000)} KB (${names.join(" ")})`,
  );
}

const gateway = await started("gateway");
const repository = await started("repository");
const behind = { gateway: gateway.url, repository: repository.url };
await report(await started("standalone"));
await report(await started("node", { ...behind, segments: ["stock"] }));
await report(await started("proxy", behind));
await report(gateway);
await report(repository);
