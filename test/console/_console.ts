// A console in memory: a gateway with two nodes behind it, and a reader of its events.

import { createConsole } from "../../console/server/console.ts";
import type { Console } from "../../server/console/console-port.ts";
import type { ConsoleChange, ConsoleState } from "../../console/console-state.ts";
import type { HttpResponse } from "../../src/base/ports.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { ask, settle, TestClock, testHost, testModules, TestNetwork } from "../_cluster.ts";
import { money, outOfStock, shop } from "../spec/_shop.ts";
import { chunksOf } from "../../src/http/bodies.ts";

export const key = "the-key-of-these-tests";
export const withKey = { "x-svc-trust-key": key } as const;
export const address = "http://gateway:7401";
/** Headers that a browser sends from the console's page. */
export const ofThePage = {
  host: "gateway:7401",
  origin: address,
  "sec-fetch-site": "same-origin",
} as const;
export const json = { "content-type": "application/json" } as const;

export interface Deployment {
  readonly clock: TestClock;
  readonly network: TestNetwork;
  readonly gateway: Role;
  readonly console: Console;
}

export function testConsole(
  host: ReturnType<typeof testHost>,
  secure = false,
  trustKey: string | undefined = key,
  masks = false,
): Console {
  const file = async (name: string): Promise<HttpResponse> => ({
    status: 200,
    headers: { "content-type": "text/plain" },
    body: `the file ${name}`,
  });
  return createConsole(host, { trustKey, secure, masks, file });
}

/** A gateway with a console and no members. Its long health interval lets hours pass quickly. */
export async function alone(secure = false, healthIntervalMs = 100_000_000): Promise<Deployment> {
  const clock = new TestClock();
  const network = new TestNetwork();
  const host = testHost(network, clock, undefined, { url: address, trustKey: key });
  const console = testConsole(host, secure);
  let ids = 0;
  const options = {
    trustKey: key,
    limits: defaultLimits,
    healthIntervalMs,
    gatheringMs: 0,
    newId: () => `member-${++ids}`,
    observer: console,
  };
  const gateway = createGateway(host, options);
  network.roles.set(address, gateway);
  await gateway.start(address);
  return { clock, network, gateway, console };
}

/** A gateway with a console, and the shop on two nodes behind it. */
export async function deployed(): Promise<Deployment> {
  const deployment = await alone(false, 5_000);
  const { clock, network } = deployment;
  for (const segment of ["a", "b"]) {
    const modules = testModules(shop, [outOfStock, money]);
    const url = `http://${segment}`;
    const node = createNode(testHost(network, clock, undefined, { url, trustKey: key }), {
      trustKey: key,
      limits: defaultLimits,
      gateway: address,
      modules,
      segments: [segment],
      name: `node ${segment}`,
    });
    network.roles.set(url, node);
    await node.start(url);
  }
  return deployment;
}

/** Trades a new link for a session, and returns the headers of its page. */
export async function signIn({
  gateway,
  console,
}: Pick<Deployment, "gateway" | "console">): Promise<Record<string, string>> {
  const answer = await ask(
    gateway,
    "POST",
    "/svc/console/session",
    { ...ofThePage, ...json },
    JSON.stringify({ token: tokenOf(console.link()) }),
  );
  if (answer.status !== 204) throw new Error(`no session: ${answer.status}`);
  return { ...ofThePage, cookie: cookieOf(answer.headers["set-cookie"]) };
}

export function tokenOf(link: string): string {
  return /#token=(\w+)$/.exec(link)?.[1] ?? "";
}

export function cookieOf(header: unknown): string {
  return String(header).split(";")[0] ?? "";
}

export async function stateOf(gateway: Role): Promise<ConsoleState> {
  return JSON.parse(
    (await ask(gateway, "GET", "/svc/console/state", withKey)).text,
  ) as ConsoleState;
}

/** A reader of the events, which pulls them one by one. */
export async function listen(gateway: Role, headers: Readonly<Record<string, string>> = withKey) {
  const abort = new AbortController();
  const request = {
    method: "GET",
    target: "/svc/console/events",
    scheme: "http" as const,
    headers,
    body: chunksOf(),
    readBody: async () => new Uint8Array(),
    signal: abort.signal,
  };
  const answer = await gateway.handle(request);
  const body = answer.body as AsyncGenerator<Uint8Array>;
  const decoder = new TextDecoder();
  const next = async (): Promise<string | undefined> => {
    const { value, done } = await body.next();
    return done === true ? undefined : decoder.decode(value);
  };
  return {
    answer,
    abort,
    next,
    /** The data of the next message that carries data. */
    async data<T = ConsoleChange>(): Promise<T> {
      for (;;) {
        const text = await next();
        if (text === undefined) throw new Error("the stream has ended");
        const data = /^data: (.*)$/m.exec(text)?.[1];
        if (data !== undefined) return JSON.parse(data) as T;
      }
    },
    end: async () => {
      abort.abort();
      await settle();
      await body.return(undefined);
    },
  };
}
