// `npm run demo` as users see it: its output, its processes, and that none is left behind.

import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "@playwright/test";
import {
  childrenOf,
  copyDemo,
  type DemoRun,
  freePorts,
  type Ports,
  runDemo,
} from "./demo-application.ts";
import { expect, openCloth, placesOf, settled } from "./demo-steps.ts";

test.describe.configure({ timeout: 120_000 });

let copy: ReturnType<typeof copyDemo>;
let ports: Ports;

test.beforeEach(async () => {
  copy = copyDemo();
  ports = await freePorts();
});

test.afterEach(() => copy?.remove());

/** Whether anything still answers on one of the demo's ports. */
async function isSilent(): Promise<boolean> {
  const answers = await Promise.all(
    Object.values(ports).map((port) =>
      fetch(`http://127.0.0.1:${port}/health/live`).catch(() => undefined),
    ),
  );
  return answers.every((answer) => answer === undefined);
}

const started = (demo: DemoRun): readonly string[] =>
  childrenOf(demo.pid).flatMap(
    ({ command }) => /start --config config\/([\w-]+)\.json/.exec(command)?.[1] ?? [],
  );

test("the demo starts five processes and says what runs where, and Ctrl-C stops all of them", async () => {
  const demo = runDemo(copy.folder, ports);
  const url = await demo.opened;
  expect(url).toBe(`http://127.0.0.1:${ports["SEAMLINE_DEMO_PORT"]}/`);
  expect(started(demo)).toEqual(["repository", "gateway", "node-a", "node-b", "proxy"]);
  for (const step of ["build", "repository", "gateway", "node A", "node B", "proxy"])
    expect(demo.output()).toMatch(new RegExp(`✓ ${step} .*\\d+ ms`));
  expect(demo.output()).toMatch(/Role +URL +Segments +Procedures/);
  expect(demo.output()).toMatch(
    new RegExp(
      `node A +http://127\\.0\\.0\\.1:${ports["SEAMLINE_DEMO_NODE_A_PORT"]} +catalogue +shop/`,
    ),
  );
  expect(demo.output()).toContain("shop/reserve (private)");
  expect(demo.output()).toMatch(/browser +the page +ui +shop\//);
  expect(await demo.interrupt()).toBe(0);
  expect(await isSilent()).toBe(true);
});

test("the demo stops its services if only the demo itself gets the signal", async () => {
  const demo = runDemo(copy.folder, ports, "--standalone");
  await demo.opened;
  process.kill(demo.pid, "SIGTERM");
  expect(await demo.ended).toBe(0);
  expect(demo.output()).toContain("Stopped.");
  expect(await isSilent()).toBe(true);
});

test("--standalone runs the same shop in one process", async ({ page }) => {
  const demo = runDemo(copy.folder, ports, "--standalone");
  await page.goto(await demo.opened);
  await settled(page);
  await openCloth(page, "TA-4873");
  expect(started(demo)).toEqual(["standalone"]);
  const node = "one process";
  expect(await placesOf(page)).toEqual({
    rank: "This browser",
    search: node,
    cloth: node,
    swatch: node,
    stockLevels: node,
    quote: node,
    deliveryDay: node,
  });
  expect(await demo.interrupt()).toBe(0);
  expect(await isSilent()).toBe(true);
});

test("if a port is taken, the demo names it and its role and starts nothing", async () => {
  const squatter = createServer();
  await new Promise<void>((resolve) =>
    squatter.listen(Number(ports["SEAMLINE_DEMO_GATEWAY_PORT"]), "127.0.0.1", resolve),
  );
  const demo = runDemo(copy.folder, ports);
  expect(await demo.ended).toBe(1);
  expect(demo.output()).toContain(
    `Port ${ports["SEAMLINE_DEMO_GATEWAY_PORT"]} is taken, and the gateway needs it`,
  );
  await new Promise((resolve) => squatter.close(resolve));
  expect(await isSilent()).toBe(true);
});

test("if the build fails, the demo shows its output and starts nothing", async () => {
  writeFileSync(
    join(copy.folder, "segments/ui.segment.json"),
    JSON.stringify({ "./shop/rank": { rang: { access: "public" } } }),
  );
  const demo = runDemo(copy.folder, ports);
  expect(await demo.ended).toBe(1);
  expect(demo.output()).toContain("The demo was not built");
  expect(demo.output()).toContain("ui.segment.json");
  expect(demo.output()).toContain("rang");
  expect(await isSilent()).toBe(true);
});

test("if a process dies, the demo names it, shows its last lines and stops the others", async () => {
  const demo = runDemo(copy.folder, ports);
  await demo.opened;
  const victim = childrenOf(demo.pid).find(({ command }) => command.includes("config/node-b.json"));
  process.kill(victim?.pid ?? Number.NaN, "SIGKILL");
  expect(await demo.ended).toBe(1);
  expect(demo.output()).toContain("Node B stopped by itself (signal SIGKILL)");
  expect(await isSilent()).toBe(true);
});

test("the demo refuses an unknown argument", async () => {
  const demo = runDemo(copy.folder, ports, "--standalon");
  expect(await demo.ended).toBe(1);
  expect(demo.output()).toContain("Unknown option --standalon: the demo takes only --standalone");
});
