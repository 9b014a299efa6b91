// A service ends by a signal, `stop()` or an error, whatever its modules do to the process.

import { beforeAll, describe, expect, vi } from "vitest";

import { type Application, anyPort, buildPackage, inApplication } from "./_application.ts";

beforeAll(buildPackage, 120_000);

vi.setConfig({ maxConcurrency: 3 });
const it = inApplication();

const answer = 'export async function answer(): Promise<string> {\n  return "here";\n}\n';
const get = async (url: string): Promise<string> => await (await fetch(url)).text();

async function write(application: Application, source: string): Promise<void> {
  await application.publish("shop/answer", source, ["answer"]);
  await application.put("src/index.html", "<!doctype html><title>Shop</title>");
  await application.put("seamline.json", { mode: "standalone", url: anyPort });
}

/** As PGlite does while it loads, and as tools do that set a code for a later end. */
const codes: readonly [code: number, logs: RegExp | undefined][] = [
  [0, undefined],
  [3, /warning: a module has set process\.exitCode to 3: .* ends with 0/],
];

describe.concurrent.each(codes)(
  "a module that sets process.exitCode = %d while it loads",
  (code, logs) => {
    it("leaves `start` running, which ends with 0 after SIGTERM", async ({ application }) => {
      await write(application, `process.exitCode = ${code};\n${answer}`);
      const service = application.seamline(["start"]);
      const [, url] = await service.says(/^standalone at (\S+)/m);
      // Longer than what a failed start leaves its output.
      await new Promise((done) => setTimeout(done, 800));
      expect(await get(`${url}/rpc/shop/answer`)).toBe("here");
      expect(await service.ended("SIGTERM")).toBe(0);
      if (logs === undefined) expect(service.output()).not.toContain("process.exitCode");
      else expect(service.output()).toMatch(logs);
    });

    it("leaves `dev` running, which ends with 0 after SIGTERM", async ({ application, expect }) => {
      await write(application, `process.exitCode = ${code};\n${answer}`);
      const session = application.seamline(["dev", "--port", "0"]);
      const [, url] = await session.says(/(http:\/\/localhost:\d+)/);
      await expect.poll(() => get(`${url}/rpc/shop/answer`)).toBe("here");
      await new Promise((done) => setTimeout(done, 800));
      expect(await get(`${url}/rpc/shop/answer`)).toBe("here");
      expect(await session.ended("SIGTERM")).toBe(0);
    });
  },
);

it.concurrent("`start` ends with 0 when onStop sets process.exitCode, and says so", async ({
  application,
}) => {
  await write(
    application,
    `import { onStop } from "seamline";\nonStop(() => {\n  process.exitCode = 4;\n});\n${answer}`,
  );
  const service = application.seamline(["start"]);
  await service.says(/^standalone at (\S+)/m);
  expect(await service.ended("SIGTERM")).toBe(0);
  expect(service.output()).toContain("a module has set process.exitCode to 4");
});

it.concurrent("`start` ends with 1 after an exception although a module has set process.exitCode = 0", async ({
  application,
}) => {
  await write(
    application,
    `export async function answer(): Promise<string> {\n  setTimeout(() => {\n    process.exitCode = 0;\n    throw new Error("no way on");\n  });\n  return "here";\n}\n`,
  );
  const service = application.seamline(["start"]);
  const [, url] = await service.says(/^standalone at (\S+)/m);
  expect(await get(`${url}/rpc/shop/answer`)).toBe("here");
  expect(await service.ended()).toBe(1);
});

const exits: readonly [what: string, source: string, place: RegExp][] = [
  [
    "while it loads",
    `const settings = {};\nif (!("url" in settings)) process.exit(3);\n${answer}`,
    /src[\\/]shop[\\/]answer\.ts:2:35/,
  ],
  [
    "in a call",
    `export async function answer(): Promise<string> {\n  await null;\n  process.exit(3);\n}\n`,
    /in \[shop\/answer \| v0\.0\.0\][^]*src[\\/]shop[\\/]answer\.ts:3:11/,
  ],
  [
    "in a listener of SIGTERM",
    `process.on("SIGTERM", () => {\n  process.exit(3);\n});\n${answer}`,
    /src[\\/]shop[\\/]answer\.ts:2:11/,
  ],
];

describe.concurrent.each(exits)("a module that calls process.exit(3) %s", (what, source, place) => {
  it("ends `start` with that code, and the log says which code and from where", async ({
    application,
  }) => {
    await write(application, source);
    const service = application.seamline(["start"]);
    if (what !== "while it loads") {
      const [, url] = await service.says(/^standalone at (\S+)/m);
      if (what === "in a call") await get(`${url}/rpc/shop/answer`).catch(() => {});
    }
    expect(await service.ended(what.includes("SIGTERM") ? "SIGTERM" : undefined)).toBe(3);
    expect(service.output()).toMatch(
      /error: process\.exit\(\) was called.*this process ends at once with exit code 3/,
    );
    expect(service.output()).toMatch(place);
  });
});

it.concurrent("a module that calls process.exit(3) while it loads ends `dev`, which says so", async ({
  application,
}) => {
  await write(
    application,
    `const settings = {};\nif (!("url" in settings)) process.exit(3);\n${answer}`,
  );
  const session = application.seamline(["dev", "--port", "0"]);
  expect(await session.ended()).toBe(3);
  expect(session.output()).toMatch(
    /process\.exit\(\) was called.*this process ends at once with exit code 3/,
  );
  expect(session.output()).toMatch(/src[\\/]shop[\\/]answer\.ts:2/);
});

it.concurrent("a service that nothing keeps alive ends with 1 and says so", async ({
  application,
}) => {
  await write(
    application,
    `export async function answer(): Promise<string> {\n  for (const handle of (process as never as { _getActiveHandles(): { unref?(): void }[] })._getActiveHandles())\n    handle.unref?.();\n  return "here";\n}\n`,
  );
  const service = application.seamline(["start"]);
  const [, url] = await service.says(/^standalone at (\S+)/m);
  await get(`${url}/rpc/shop/answer`).catch(() => {});
  expect(await service.ended()).toBe(1);
  expect(service.output()).toContain(
    "error: this process ends: nothing is left that keeps it alive",
  );
});
