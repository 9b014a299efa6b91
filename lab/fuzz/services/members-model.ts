// Members of a gateway in random order: they link and join, join again, leave, fall silent, lose their links, come
// back and say that they are unhealthy. The model knows who may be called; the gateway is the real one, with a
// clock that the commands move.

import { expect } from "vitest";
import fc from "fast-check";
import { digest as sha256 } from "../../../server/http/host.ts";
import type { Role } from "../../../src/roles/pipeline/role.ts";
import { ask, key, TestDeployment } from "../../../test/_cluster.ts";
import { dialAsMember, type FakeMember, memoryDial } from "../../../test/_fake-member.ts";

/** A process that may be a member. */
interface Process {
  readonly instance: string;
  readonly member: FakeMember;
  /** Where it says that it is. Two may say the same. */
  url: string;
  /** It answers on its link, reads and sends nothing, or is gone with its link. */
  state: "up" | "silent" | "down";
  isHealthy: boolean;
  /** It has joined, and hasn't left. */
  isMember: boolean;
}

/** The model: who is a member, and what the gateway must have learned of each. */
class Model {
  readonly processes: Process[] = [];
  /** The latest that says it is there. */
  at(url: string): Process | undefined {
    return this.processes.findLast((process) => process.url === url);
  }
  /** A link that is over takes its member along. */
  get members(): Process[] {
    return this.processes.filter(({ isMember, member }) => isMember && !member.isClosed);
  }
  /** Those that may be called: what an application says counts always. */
  get healthy(): Process[] {
    return this.members.filter(({ isHealthy }) => isHealthy);
  }
  get alive(): Process[] {
    return this.healthy.filter(({ state }) => state === "up");
  }
}

/** The gateway, and the network on which the processes are. */
class Real {
  readonly local = new TestDeployment();
  gateway!: Role;

  async open(): Promise<this> {
    this.gateway = await this.local.gateway();
    return this;
  }

  async dial(url: string, instance: string): Promise<FakeMember> {
    return await dialAsMember({ dial: memoryDial(this.local.network), url, instance });
  }

  /** Whether each member gets calls, as the gateway lists it. */
  async listed(): Promise<Record<string, boolean>> {
    const { text } = await ask(this.gateway, "GET", "/nodes", { "x-svc-trust-key": key });
    const { members } = JSON.parse(text) as { members: { instance: string; state: string }[] };
    return Object.fromEntries(members.map(({ instance, state }) => [instance, state === "ready"]));
  }

  /** Calls are answered by the member that they reach. */
  async call(fqn: string): Promise<number> {
    const fields = { "content-type": "application/json" };
    return (await ask(this.gateway, "POST", `/rpc/${fqn}`, fields, "{}")).status;
  }
}

type Command = fc.AsyncCommand<Model, Real>;

const procedures = ["shop/order", "shop/stock"];
/** A gateway asks each second. */
const learnedMs = 1_100;
/** A member that owes an answer and says nothing for so long gets no more calls. */
const silentMs = 1_000;
/** A gateway pings an idle link after 15 to 30 s, and closes it if no answer comes. */
const settledMs = 35_000;

/** Runs `act`, and checks that only members were called that may be. */
async function guarded(model: Model, act: () => Promise<void>): Promise<void> {
  const { healthy, processes } = model;
  const counts = processes.map((process) => {
    const most = healthy.includes(process) ? Infinity : process.member.calls.length;
    return [process, most] as const;
  });
  await act();
  for (const [{ member, instance }, most] of counts)
    expect(member.calls.length, `calls of ${instance}`).toBeLessThanOrEqual(most);
}

function command(
  name: string,
  check: (model: Model) => boolean,
  run: (model: Model, real: Real) => Promise<void>,
): Command {
  return { check, run, toString: () => name };
}

let instances = 0;

/** It links first, if it has to. */
async function join(process: Process): Promise<void> {
  const { instance, member, url } = process;
  member.isHealthy = process.isHealthy;
  if (member.isClosed) await member.dial();
  // Three lists that have these procedures in common, and each is sent in both ways.
  const number = Number(instance.slice(1));
  const all = [...procedures, `shop/version${number % 3}`];
  const list = JSON.stringify({ procedures: all, idempotent: ["shop/stock"] });
  const digest = sha256(Buffer.from(list));
  if (number % 2 === 0)
    expect((await member.request("PUT", `/nodes/lists/${digest}`, list)).status).toBe(201);
  const announced = number % 2 === 0 ? { digest } : (JSON.parse(list) as object);
  await member.join({ url, ...announced });
  process.isMember = true;
}

const start = (url: string): Command =>
  command(
    `a process starts at ${url}`,
    () => true,
    async (model, real) => {
      const instance = `i${++instances}`;
      const member = await real.dial(url, instance);
      const process: Process = {
        instance,
        member,
        url,
        state: "up",
        isHealthy: true,
        isMember: false,
      };
      model.processes.push(process);
      await join(process);
    },
  );

const again = (url: string, to: string): Command =>
  command(
    `the one at ${url} joins again as ${to}`,
    (model) => model.at(url)?.state === "up",
    async (model, real) => {
      const process = model.at(url)!;
      process.url = to;
      await join(process);
      // The gateway has to learn again what it says.
      await real.local.clock.pass(learnedMs);
      for (let calls = model.healthy.length; calls > 0; calls--)
        await guarded(model, async () => {
          void real.call("shop/order");
          await real.local.clock.settle();
        });
    },
  );

const leave = (url: string): Command =>
  command(
    `the one at ${url} leaves`,
    (model) => model.at(url)?.state === "up" && model.at(url)?.isMember === true,
    async (model) => {
      const process = model.at(url)!;
      expect((await process.member.leave()).status).toBe(204);
      process.isMember = false;
      // It is no member any more, and its link stays.
      expect((await process.member.leave()).status).toBe(204);
    },
  );

const become = (url: string, state: Process["state"]): Command =>
  command(
    `the one at ${url} is ${state}`,
    (model) => model.at(url) !== undefined,
    async (model) => {
      const process = model.at(url)!;
      const { member, isMember } = process;
      process.state = state;
      member.isSilent = state === "silent";
      if (state === "down") member.die();
      // It joins as soon as it notices that its link is over.
      else if (state === "up" && isMember && member.isClosed) await join(process);
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
      process.member.isHealthy = isHealthy;
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

/** Those that are silent have a call each, and get no more of them while others can take them. */
const avoid = (): Command =>
  command(
    "calls go past those that are silent",
    ({ alive }) => alive.length > 0,
    async (model, real) =>
      await guarded(model, async () => {
        const count = 2 * model.healthy.length;
        for (let calls = 0; calls < count; calls++) void real.call("shop/order");
        await real.local.clock.pass(silentMs);
        const statuses: number[] = [];
        for (let calls = 0; calls < count; calls++)
          void real.call("shop/order").then((status) => statuses.push(status));
        // No time passes.
        await real.local.clock.settle();
        expect(statuses).toEqual(Array.from({ length: count }, () => 200));
      }),
  );

/** Once the gateway has learned everything, each member that may be called gets the same share. */
const settle = (): Command =>
  command(
    "all is quiet",
    () => true,
    async (model, real) => {
      await guarded(model, async () => await real.local.clock.pass(settledMs));
      for (const { member, instance, state, isMember } of model.processes)
        // One that has left needs no other link.
        if (state !== "up" || isMember)
          expect(member.isClosed, `the link of ${instance} is over`).toBe(state !== "up");
      const { alive, members } = model;
      expect(await real.listed()).toEqual(
        Object.fromEntries(members.map((each) => [each.instance, each.isHealthy])),
      );
      const before = model.processes.map(({ member }) => member.calls.length);
      const rounds = 3;
      const statuses = new Set<number>();
      await guarded(model, async () => {
        for (let calls = 0; calls < rounds * Math.max(1, alive.length); calls++)
          statuses.add(await real.call("shop/order"));
      });
      if (alive.length === 0)
        return expect([...statuses]).toEqual([model.processes.length === 0 ? 404 : 503]);
      expect([...statuses]).toEqual([200]);
      model.processes.forEach((process, index) => {
        const share = process.member.calls.length - before[index]!;
        const fair = alive.includes(process) ? rounds : 0;
        expect(share, `share of ${process.instance}`).toBe(fair);
      });
    },
  );

const url = fc.constantFrom("http://a", "http://b", "http://c", "http://d");
/** Without members, most commands would do nothing. */
const first = ["http://a", "http://b", "http://c"].map(start);
const changes = fc
  .tuple(url, fc.constantFrom("up" as const, "silent" as const, "down" as const))
  .map(([at, state]) => become(at, state));
const says = fc.tuple(url, fc.boolean()).map(([at, isHealthy]) => say(at, isHealthy));
const commands = fc.commands(
  [
    url.map(start),
    url.map(start),
    fc.tuple(url, url).map(([from, to]) => again(from, to)),
    url.map(leave),
    says,
    says,
    changes,
    changes,
    changes,
    fc.constantFrom(...procedures).map(call),
    fc.constantFrom(100, 700, 2_500, 6_000, 31_000).map(pass),
    fc.constant(avoid()),
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
