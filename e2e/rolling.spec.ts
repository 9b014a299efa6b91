// A new build is rolled out over real processes in the order that docs/guide/deployment.md names, while
// tabs of the old and of the new build call all the time.

import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { expect, type Page, test } from "@playwright/test";
import {
  anyPort,
  type Application,
  buildPackage,
  type Command,
  createApplication,
  type Service,
} from "../test/process/_application.ts";

const publicly = { access: "public" };

/** A page that calls each of `calls` all the time, and counts what came of it. */
const page = (
  quote: string,
  calls: string,
): string => `import { startClient } from "seamline/client";
import { quote } from "./shop/${quote}.ts";
import { measure } from "./shop/measure.ts";
import { gone } from "./shop/gone.ts";
import { show } from "./shop/show.ts";
import { Roll } from "./shop/roll.ts";
import { Label } from "./office/label.ts";
const told: unknown[] = [];
window.addEventListener("seamline:outdated", ({ detail }) => told.push(detail));
const client = await startClient("ui");
const label = async () => await show(new Label());
const seen = (answers: Map<string, number>) => [...answers.keys()].toSorted();
const all = new Map<string, Map<string, number>>();
const ended = new AbortController();
const loops = Object.entries({ ${calls} }).map(async ([name, call]) => {
  const answers = new Map<string, number>();
  all.set(name, answers);
  while (!ended.signal.aborted) {
    const answer = await call().then(String, (error) => error.name === "ProcedureNotFound" ? error.name : \`\${error.name}: \${error.message}\`);
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
    await new Promise((resolve) => setTimeout(resolve, 8));
  }
});
Object.assign(window, {
  told,
  label,
  answersOf: (name: string) => seen(all.get(name)!),
  timesOf: (name: string) => [...all.get(name)!.values()].reduce((sum, times) => sum + times, 0),
  async end() {
    ended.abort();
    await Promise.all(loops);
    return Object.fromEntries([...all].map(([name, answers]) => [name, seen(answers)]));
  },
  later: () => import("./later.ts").then(({ word }) => word),
  tools: () => client.import("./ui/tools.ts").then(({ use }) => use()),
});
document.body.dataset["started"] = "true";
`;
const measured = "async () => { return Object.entries(await measure(new Roll())); }";
const older = {
  "index.html":
    '<!doctype html><html><head><meta charset="utf-8"></head><body><script type="module" src="/src/main.ts"></script></body></html>',
  "src/main.ts": page("quote", `quote, gone, measure: ${measured}`),
  "src/later.ts": 'export const word = "old";\n',
  "src/ui/tools.ts": 'export const use = () => "old";\n',
  "src/ui/look.ts": 'export async function look() {\n  return "old";\n}\n',
  "src/shop/roll.ts": 'export class Roll {\n  sku = "tweed";\n}\n',
  "src/shop/measure.ts":
    'import { Roll } from "./roll.ts";\nexport async function measure(roll: Roll): Promise<Roll> {\n  return roll;\n}\n',
  "src/shop/quote.ts": 'export async function quote() {\n  return "v1";\n}\n',
  "src/shop/gone.ts": 'export async function gone() {\n  return "still here";\n}\n',
  "src/shop/show.ts":
    "export async function show(value: unknown) {\n  return (value as object).constructor.name;\n}\n",
  "src/office/label.ts":
    'export class Label {\n  text = "x";\n}\nexport async function print(label: Label) {\n  return label.text;\n}\n',
  "shop.segment.json": {
    "./shop/measure": { measure: publicly },
    "./shop/quote": { quote: { ...publicly, version: "1" } },
    "./shop/gone": { gone: publicly },
    "./shop/show": { show: publicly },
  },
  "office.segment.json": { "./office/label": { print: publicly } },
  "ui.segment.json": { "./ui/look": { look: publicly } },
};
const newer = {
  "src/main.ts": page("next", `quote, label, measure: ${measured}`).replace(
    'import { gone } from "./shop/gone.ts";\n',
    "",
  ),
  "src/later.ts": 'export const word = "new";\n',
  "src/ui/tools.ts": 'export const use = () => "new";\n',
  "src/shop/roll.ts": 'export class Roll {\n  sku = "tweed";\n  width = 150;\n}\n',
  "src/shop/next.ts": 'export async function quote() {\n  return "v2";\n}\n',
  "src/office/label.ts": older["src/office/label.ts"].replace('"x";', '"x";\n  size = 1;'),
  "shop.segment.json": {
    "./shop/measure": { measure: publicly },
    "./shop/quote": { quote: { ...publicly, version: "1" } },
    "./shop/next": { quote: { ...publicly, version: "2" } },
    "./shop/show": { show: publicly },
  },
};

let application: Application;
let front: Front;
test.afterAll(async () => {
  front?.close();
  await application?.remove();
});

const build = async (files: Readonly<Record<string, string | object>>): Promise<void> => {
  for (const [path, content] of Object.entries(files)) await application.put(path, content);
  const command = application.seamline(["build"]);
  expect(await command.ended(), command.output()).toBe(0);
};

interface Front {
  readonly url: string;
  /** The port that connections go to from now on. */
  to(port: string): void;
  close(): void;
}

/** The balancer in front of proxies: takes one out before it stops, and leaves its connections to it. */
async function createFront(): Promise<Front> {
  let port = "";
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    const onward = connect(Number(port), "127.0.0.1");
    for (const [from, to] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy()).on("close", () => sockets.delete(from));
      from.pipe(to);
    }
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    to: (next) => (port = next),
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

const open = async (tab: Page): Promise<void> => {
  await tab.goto(front.url);
  await expect(tab.locator("body")).toHaveAttribute("data-started", "true");
};
/** Waits until each call of a tab has been answered some more times, as the deployment is now. */
const goOn = async (tab: Page, names: readonly string[]): Promise<void> => {
  for (const name of names) {
    const times = await tab.evaluate<number>(`timesOf("${name}")`);
    await expect
      .poll(() => tab.evaluate<number>(`timesOf("${name}")`), { intervals: [20] })
      .toBeGreaterThan(times + 2);
  }
};

test("a build is rolled out over two gateways, three nodes and two proxies without a failed call of any tab, but those of a procedure that it removed (revisions-13, revisions-15)", async ({
  page: old,
  context,
}) => {
  // It only bounds a failure: eight processes start twice, and two builds run.
  test.setTimeout(240_000);
  buildPackage();
  [application, front] = await Promise.all([createApplication(), createFront()]);
  await build(older);
  const start = application.service;
  const restart = async (service: Service, name: string, config: object): Promise<Service> => {
    expect(await service.command.ended("SIGTERM"), service.command.output()).toBe(0);
    return await start(name, { ...config, url: service.url });
  };
  const both = ["1", "2"];
  const gatewayConfig = { mode: "gateway", url: anyPort };
  const repositoryConfig = { mode: "repository", url: anyPort };
  const [repository, ...gateways] = await Promise.all([
    start("repository", repositoryConfig),
    ...both.map((name) => start(`gateway-${name}`, gatewayConfig)),
  ]);
  const places = { gateway: gateways.map(({ url }) => url), repository: repository.url };
  const proxyConfig = { mode: "proxy", url: anyPort, ...places };
  const names = ["a", "b", "c"];
  const nodeConfig = (name: string) => ({
    mode: "node",
    name,
    url: anyPort,
    segments: ["shop"],
    cache: `./${name}`,
    ...places,
  });
  const [nodes, proxies] = await Promise.all([
    Promise.all(names.map((name) => start(name, nodeConfig(name)))),
    Promise.all(both.map((name) => start(`proxy-${name}`, proxyConfig))),
  ]);
  const portOf = (index: number): string => new URL(proxies[index]?.url ?? "").port;
  front.to(portOf(0));
  const calls = ["quote", "measure"];
  await open(old);
  await goOn(old, [...calls, "gone"]);

  await build(newer);
  await restart(repository, "repository", repositoryConfig);
  // Nodes that have yet to restart load what they first need now: a class of another segment.
  for (let time = 0; time < 3; time++) expect(await old.evaluate("label()")).toBe("Label");

  const fresh = await context.newPage();
  for (const [index, service] of nodes.entries()) {
    if (index === nodes.length - 1)
      expect(await old.evaluate('answersOf("gone")')).toEqual(["still here"]);
    await restart(service, names[index] ?? "", nodeConfig(names[index] ?? ""));
    // From the first new node on, pages of the new build find what they call.
    if (index === 0) await open(fresh);
    await goOn(old, calls);
    await goOn(fresh, [...calls, "label"]);
  }
  await expect.poll(() => old.evaluate('answersOf("gone")')).toContain("ProcedureNotFound");
  for (const [index, service] of gateways.entries()) {
    const { command } = await restart(service, `gateway-${both[index]}`, gatewayConfig);
    // The next one stops when all that had a link to this one have it again.
    const times = (text: string, { output }: Command): number => output().split(text).length - 1;
    const linked = () =>
      times(" joined ", command) === nodes.length &&
      proxies.every((proxy) => times(`linked to ${service.url}`, proxy.command) === 2);
    await expect.poll(linked, { intervals: [20] }).toBe(true);
    await goOn(old, ["quote"]);
  }
  for (const [index, service] of proxies.entries()) {
    front.to(portOf(1 - index));
    await restart(service, `proxy-${both[index]}`, proxyConfig);
    await goOn(old, ["quote"]);
  }

  expect(await old.evaluate("later()")).toBe("old");
  expect(await old.evaluate("tools()")).toBe("old");
  await expect.poll(() => old.evaluate("told.length")).toBe(1);
  expect(await fresh.evaluate("later()")).toBe("new");
  const { gone, ...others } = await old.evaluate<Record<string, string[]>>("end()");
  expect(others).toEqual({ quote: ["v1"], measure: ["sku,tweed"] });
  // A gateway that has just started can't tell yet whether a procedure is gone, and by then the other
  // one may be away.
  expect(gone?.filter((answer) => !answer.startsWith("NodeNotAvailable"))).toEqual([
    "ProcedureNotFound",
    "still here",
  ]);
  expect(await fresh.evaluate("end()")).toEqual({
    quote: ["v2"],
    label: ["Label"],
    measure: ["sku,tweed,width,150"],
  });
  expect(await old.evaluate("told.length")).toBe(1);
  expect(await fresh.evaluate("told")).toEqual([]);
});
