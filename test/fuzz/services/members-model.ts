// Members of a gateway in random order: they join, move, leave, fall silent, come back and say that
// they are unhealthy. The model knows who may be called; the gateway is the real one, with a clock
// that the commands move.

import { expect } from "vitest";
import fc from "fast-check";
import { digest as sha256 } from "../../../server/http/host.ts";
import type { HttpRequest, HttpResponse } from "../../../src/base/ports.ts";
import type { Role } from "../../../src/roles/role.ts";
import { ask, key, TestDeployment } from "../../_cluster.ts";

/** A process that may be a member. */
interface Process {
  readonly instance: string;
  url: string;
  /** Its connections are answered, accepted without an answer, or refused. */
  state: "up" | "silent" | "down";
  isHealthy: boolean;
  isMember: boolean;
  id: string;
  calls: number;
}

/** The model: who is a member, and what the gateway must have learned of each. */
class Model {
  readonly processes: Process[] = [];
  /** By address: a process that starts there takes the place of the one before. */
  at(url: string): Process | undefined {
    return this.processes.findLast((process) => process.url === url);
  }
  get members(): Process[] {
    return this.processes.filter(({ isMember }) => isMember);
  }
  /** Those that may be called: what an application says counts always. */
  get healthy(): Process[] {
    return this.members.filter(({ isHealthy }) => isHealthy);
  }
  get alive(): Process[] {
    return this.healthy.filter(({ state }) => state === "up");
  }
  /** More than half seem dead: then the guess is wrong, or nothing is left to lose. */
  get panics(): boolean {
    return this.alive.length < this.healthy.length / 2;
  }
  joined(process: Process, url: string): void {
    for (const other of this.processes)
      // It has lost its address.
      if (other.url === url) Object.assign(other, { url: "", isMember: false });
    Object.assign(process, { url, isMember: true });
  }
}

/** The gateway, and the network on which the processes are. */
class Real {
  readonly local = new TestDeployment();
  gateway!: Role;

  async open(): Promise<this> {
    this.gateway = await this.local.gateway({ lease: 1e9 });
    return this;
  }

  async send(method: string, path: string, body = ""): Promise<{ status: number; text: string }> {
    return await ask(this.gateway, method, path, { "x-svc-trust-key": key }, body);
  }

  /** Calls are answered by whoever they reach. */
  async call(fqn: string): Promise<number> {
    const fields = { "content-type": "application/json" };
    return (await ask(this.gateway, "POST", `/rpc/${fqn}`, fields, "{}")).status;
  }

  /** Who listens where: a process that moved still listens at its old address. */
  readonly #owners = new Map<string, Process>();

  place(process: Process): void {
    this.#owners.set(process.url, process);
    for (const [url, owner] of this.#owners)
      if (owner.state === "down") this.local.network.roles.delete(url);
      else this.local.network.roles.set(url, roleOf(owner));
  }

  /** How many calls were sent to an address, answered or not. */
  triedAt(url: string): number {
    return this.local.network.sent.filter((request) => request.url.startsWith(`${url}/rpc/`))
      .length;
  }
}

function roleOf(process: Process): Role {
  const handle = async (request: HttpRequest): Promise<HttpResponse> => {
    const isCall = request.target.startsWith("/rpc/");
    if (isCall) process.calls++;
    if (process.state === "silent") return await silence(request);
    return { status: 200, headers: {}, body: isCall ? "" : String(process.isHealthy) };
  };
  return { handle } as Role;
}

async function silence(request: HttpRequest): Promise<never> {
  return await new Promise((_, reject) =>
    request.signal.addEventListener("abort", () => reject(request.signal.reason as Error)),
  );
}

type Command = fc.AsyncCommand<Model, Real>;

const procedures = ["shop/order", "shop/stock"];
/** A check that is running may take 6 s, and the next one begins 5 s later. */
const learnedMs = 11_100;
/** Longer than the longest pause between two questions whether a member is back. */
const settledMs = 80_000;

/** Runs `act`, and checks that nobody was called who may not be. */
async function guarded(model: Model, act: () => Promise<void>): Promise<void> {
  const counts = model.processes.map((process) => {
    const { isMember, isHealthy, calls } = process;
    return [process, isMember && isHealthy ? Infinity : calls] as const;
  });
  await act();
  for (const [process, most] of counts)
    expect(process.calls, `calls of ${process.instance}`).toBeLessThanOrEqual(most);
}

function command(
  name: string,
  check: (model: Model) => boolean,
  run: (model: Model, real: Real) => Promise<void>,
): Command {
  return { check, run, toString: () => name };
}

let instances = 0;

async function join(model: Model, real: Real, process: Process, url: string): Promise<void> {
  const { instance } = process;
  // Three lists that have these procedures in common, and each is sent in both ways.
  const number = Number(instance.slice(1));
  const all = [...procedures, `shop/version${number % 3}`];
  const list = JSON.stringify({ procedures: all, idempotent: ["shop/stock"] });
  const digest = sha256(Buffer.from(list));
  model.joined(process, url);
  real.place(process);
  if (number % 2 === 0)
    expect((await real.send("PUT", `/nodes/lists/${digest}`, list)).status).toBe(201);
  const announced = number % 2 === 0 ? { digest } : (JSON.parse(list) as object);
  const join = JSON.stringify({ url, instance, ...announced });
  const { status, text } = await real.send("POST", "/nodes", join);
  expect(status).toBe(201);
  process.id = (JSON.parse(text) as { id: string }).id;
}

const start = (url: string): Command =>
  command(
    `a process starts at ${url}`,
    () => true,
    async (model, real) => {
      const instance = `i${++instances}`;
      const common = { state: "up", isHealthy: true, isMember: false, id: "", calls: 0 } as const;
      const process: Process = { url, instance, ...common };
      model.processes.push(process);
      await join(model, real, process, url);
    },
  );

const again = (url: string, to: string): Command =>
  command(
    `the one at ${url} joins again at ${to}`,
    (model) => model.at(url)?.state === "up",
    async (model, real) => {
      const process = model.at(url)!;
      const { isMember } = process;
      await join(model, real, process, to);
      // Of one that had left, the gateway has to learn again what it says.
      if (!isMember) await real.local.clock.pass(learnedMs);
      for (let calls = model.members.length; calls > 0; calls--)
        await guarded(model, async () => {
          void real.call("shop/order");
          await real.local.clock.settle();
        });
    },
  );

const leave = (url: string): Command =>
  command(
    `the one at ${url} leaves`,
    (model) => model.at(url)?.isMember === true,
    async (model, real) => {
      const process = model.at(url)!;
      expect((await real.send("DELETE", `/nodes/${process.id}`)).status).toBe(204);
      process.isMember = false;
      expect((await real.send("PUT", `/nodes/${process.id}`)).status).toBe(404);
    },
  );

const become = (url: string, state: Process["state"]): Command =>
  command(
    `the one at ${url} is ${state}`,
    (model) => model.at(url) !== undefined,
    async (model, real) => {
      const process = model.at(url)!;
      process.state = state;
      real.place(process);
    },
  );

/** The gateway learns it before anything else happens. */
const say = (url: string, isHealthy: boolean): Command =>
  command(
    `the one at ${url} says ${isHealthy}`,
    (model) => model.at(url)?.state === "up" && model.at(url)?.isMember === true,
    async (model, real) => {
      const process = model.at(url)!;
      process.isHealthy = isHealthy;
      await real.local.clock.pass(learnedMs);
      await guarded(model, async () => await real.local.clock.pass(1));
    },
  );

const call = (fqn: string): Command =>
  command(
    `a call of ${fqn}`,
    () => true,
    async (model, real) =>
      await guarded(model, async () => {
        // It may wait for a silent member.
        void real.call(fqn);
        await real.local.clock.pass(10);
      }),
  );

const pass = (ms: number): Command =>
  command(
    `${ms} ms pass`,
    () => true,
    async (model, real) => await guarded(model, async () => await real.local.clock.pass(ms)),
  );

/** Once the gateway has learned everything, each member that may be called gets the same share. */
const settle = (): Command =>
  command(
    "all is quiet",
    () => true,
    async (model, real) => {
      await guarded(model, async () => await real.local.clock.pass(settledMs));
      const { alive, healthy } = model;
      const before = model.processes.map(({ calls }) => calls);
      const tried = healthy.map((process) => [process, real.triedAt(process.url)] as const);
      const rounds = 3;
      const statuses = new Set<number>();
      await guarded(model, async () => {
        for (let calls = 0; calls < rounds * Math.max(1, healthy.length); calls++) {
          const answer = real.call("shop/order").then((status) => statuses.add(status));
          // A silent member is only called in a panic.
          if (model.panics) await real.local.clock.pass(40_000);
          await answer;
        }
      });
      if (healthy.length === 0)
        return expect([...statuses]).toEqual([model.processes.length === 0 ? 404 : 503]);
      for (const [process, count] of tried) {
        const isTried = real.triedAt(process.url) > count;
        expect(isTried, `${process.instance} is tried`).toBe(
          model.panics || alive.includes(process),
        );
      }
      if (model.panics) return;
      expect([...statuses]).toEqual([200]);
      const share = (rounds * healthy.length) / alive.length;
      model.processes.forEach((process, index) => {
        const off = Math.abs(
          process.calls - before[index]! - (alive.includes(process) ? share : 0),
        );
        expect(off, `share of ${process.instance}`).toBeLessThan(1);
      });
    },
  );

const url = fc.constantFrom("http://a", "http://b", "http://c", "http://d");
/** Without members, most commands would do nothing. */
const first = ["http://a", "http://b", "http://c"].map(start);
const changes = fc
  .tuple(url, fc.constantFrom("up" as const, "silent" as const, "down" as const))
  .map(([at, state]) => become(at, state));
const commands = fc.commands(
  [
    url.map(start),
    url.map(start),
    fc.tuple(url, url).map(([from, to]) => again(from, to)),
    url.map(leave),
    changes,
    changes,
    changes,
    fc.tuple(url, fc.boolean()).map(([at, isHealthy]) => say(at, isHealthy)),
    fc.constantFrom(...procedures).map(call),
    fc.constantFrom(100, 700, 2_500, 6_000, 31_000).map(pass),
    fc.constant(settle()),
    fc.constant(settle()),
  ],
  { maxCommands: 25, size: "max" },
);

/** Throws with the shortest list of commands for which gateway and model differ. */
export async function checkMembers(seed: number, numRuns: number): Promise<void> {
  const run = async (list: Iterable<Command>): Promise<void> => {
    instances = 0;
    const [model, real] = [new Model(), await new Real().open()];
    try {
      await fc.asyncModelRun(() => ({ model, real }), [...first, ...list, settle()]);
    } finally {
      await real.local.network.close();
    }
  };
  await fc.assert(fc.asyncProperty(commands, run), { seed, numRuns });
}
