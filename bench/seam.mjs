// Measures a seam with a local procedure against a plain call of the same function.
// node bench/seam.mjs, after npm run build

import { mkdtemp, cp, rm, symlink, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { startServer } from "seamline/server";

const repository = fileURLToPath(new URL("..", import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "seamline-bench-"));
try {
  await cp(new URL("./seam", import.meta.url), folder, { recursive: true });
  await mkdir(join(folder, "node_modules"));
  for (const name of ["seamline", "vite"])
    await symlink(join(repository, "node_modules", name), join(folder, "node_modules", name));
  const config = {
    mode: "standalone",
    url: "http://127.0.0.1:0",
    log: "warn",
    limits: { callTimeoutMs: 120_000 },
  };
  const server = await startServer((specifier) => import(specifier), {
    config,
    root: folder,
    signals: false,
  });
  await server.runProcedure("measure", "", { rounds: 5, calls: 200_000 });
  const { plain, seam } = await server.runProcedure("measure", "", {
    rounds: 15,
    calls: 1_000_000,
  });
  await server.stop();
  const median = (times) => times.toSorted((a, b) => a - b)[times.length >> 1];
  const differences = seam.map((time, round) => time - plain[round]);
  console.log(`plain call  ${median(plain).toFixed(1)} ns`);
  console.log(`local seam  ${median(seam).toFixed(1)} ns`);
  console.log(
    `difference  ${median(differences).toFixed(1)} ns (median of ${differences.length} paired rounds of 1,000,000 calls; P5: at most 20)`,
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}
