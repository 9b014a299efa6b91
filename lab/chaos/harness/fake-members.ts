// Members of a gateway that the test plays itself, where real nodes can't be made to behave so: they
// refuse half of all calls, or join and leave many times a second.

import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import {
  type Behaviour,
  dialAsMember,
  type FakeCall,
  type FakeMember as Member,
  notBegun,
  socketDial,
} from "../../../test/_fake-member.ts";
import { procedureMs, trustKey } from "./application.ts";

const announced = { procedures: ["order", "stock", "count"], idempotent: ["stock"] };

export class FakeMember {
  readonly name: string;
  /** Calls that reached it. */
  calls = 0;
  /** When the last of them came. */
  lastCall = -Infinity;
  /** For the test to note. */
  leftAt = Infinity;
  /** Decides for each call whether it is refused. */
  refuses: () => boolean = () => false;
  readonly #ledger: number;
  #member: Member | undefined;

  constructor(name: string, ledger: string) {
    this.name = name;
    this.#ledger = openSync(join(ledger, `${name}-${process.pid}`), "a");
  }

  /** As a new process: it dials, and joins. The link of the one before ends. */
  async join(gateway: string): Promise<void> {
    this.close();
    this.#member = await dialAsMember({
      dial: socketDial(),
      gateway,
      trustKey,
      behave: (call) => this.#answer(call),
    });
    await this.#member.join(announced);
  }

  /** Says goodbye. Its link stays, so that a call which comes too late is seen. */
  async leave(): Promise<void> {
    const { status, text } = await this.#member!.leave();
    if (status !== 204) throw new Error(`${this.name} can't leave: ${status} ${text}`);
  }

  close(): void {
    this.#member?.die();
  }

  async #answer({ body }: FakeCall): Promise<Behaviour> {
    this.calls++;
    this.lastCall = performance.now();
    if (this.refuses()) {
      const { status, headers } = notBegun("overload");
      return { status, headers: { ...headers, "x-svc-refused": "yes" } };
    }
    const { id } = JSON.parse(body) as { id: string };
    writeSync(this.#ledger, `${id} ${performance.timeOrigin + performance.now()}\n`);
    await pause(procedureMs);
    return { status: 200, body: `${this.name} ${process.pid}` };
  }
}
