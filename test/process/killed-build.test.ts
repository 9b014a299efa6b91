// A build whose process is killed while it replaces the last one: the next command finds a build.

import { readdir } from "node:fs/promises";

import { afterAll, beforeAll, expect, it } from "vitest";

import { anyPort, type Application, buildPackage, createApplication } from "./_application.ts";

/** Kills the process at its second rename of a build: the last one is moved away by then. */
const killer = `
import { syncBuiltinESMExports } from "node:module";
import promises from "node:fs/promises";
const { rename } = promises;
promises.rename = async (from, to) => {
  if (/[/.]dist$/.test(to)) process.kill(process.pid, "SIGKILL");
  return await rename(from, to);
};
syncBuiltinESMExports();
`;

let application: Application;
beforeAll(async () => {
  buildPackage();
  application = await createApplication();
  await application.put("killer.mjs", killer);
}, 60_000);
afterAll(async () => await application.remove());

const write = async (answer: number): Promise<void> =>
  await application.publish("shop", `export async function count() { return ${answer}; }`, [
    "count",
  ]);

async function killedBuild(): Promise<void> {
  const killed = application.seamline(["build"], {
    NODE_OPTIONS: `--import ${application.root}/killer.mjs`,
  });
  expect(await killed.ended()).toBe("SIGKILL");
  expect(await readdir(application.root)).not.toContain("dist");
}

it(
  "a build that is killed between moving the last build away and the new one in leaves one that the next start or build completes",
  { timeout: 120_000 },
  async () => {
    await write(1);
    expect(await application.seamline(["build"]).ended()).toBe(0);
    await write(2);
    await killedBuild();
    const { url, command } = await application.service(
      "standalone",
      { mode: "standalone", url: anyPort },
      ["--no-build"],
    );
    expect(command.output()).toContain("a build was killed while it replaced ./dist");
    expect(await (await fetch(`${url}/rpc/count`)).text()).toBe("2");
    await command.ended("SIGTERM");

    await write(3);
    await killedBuild();
    const again = application.seamline(["build"]);
    expect([await again.ended(), again.output()]).toEqual([0, expect.any(String)]);
    const names = await readdir(application.root);
    expect(names.filter((name) => name.startsWith(".dist"))).toEqual([]);
    expect(names).toContain("dist");
  },
);
