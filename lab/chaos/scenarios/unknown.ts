// R8: a procedure that no node ever had, and one whose nodes are all gone.

import { Agent } from "node:http";

import { type Call, exchange, pause } from "../harness/load.ts";
import { certain, rowOf, worst } from "../harness/measure.ts";
import { type Scenario, settled } from "../harness/scenario.ts";

const r8 = rowOf("R8");
const calls = 10;

export const unknown: Scenario = {
  name: "unknown",
  rows: ["R8"],
  async run(deployment, { isShort }) {
    const agent = new Agent({ keepAlive: true });
    /** Makes calls in a row, and gives what they have in common. */
    const ask = async (path: string) => {
      const call: Call = { ...deployment.callOf("order", "nobody"), path };
      const took: number[] = [];
      const answers = new Set<string>();
      for (let count = 0; count < calls; count++) {
        const begun = performance.now();
        const { status, error, retryAfter } = await exchange(deployment.url, agent, call, 14_000);
        took.push(performance.now() - begun);
        answers.add(`${status} ${error} ${retryAfter}`);
      }
      return { took: worst(took), answers: [...answers].join(", ") };
    };
    // A gateway's first seconds are over; in the short form they were long ago.
    if (!isShort) await pause(3_000);
    const never = await ask("/rpc/nobody");
    for (const member of deployment.members) member.signal("SIGTERM");
    await Promise.all(deployment.members.map((member) => member.ended()));
    const gone = await ask("/rpc/order");
    await Promise.all(deployment.members.map((member) => member.start()));
    await settled(deployment);
    agent.destroy();
    const is = (answers: string, expected: RegExp): number => (expected.test(answers) ? 0 : calls);
    // A busy machine takes its time.
    const most = isShort ? 5_000 : 100;
    return [
      r8(
        "nobody had it: answers that aren't 404",
        "calls",
        is(never.answers, /^404 ProcedureNotFound undefined$/),
        { most: 0 },
        certain,
      ),
      r8("nobody had it: longest answer", "ms", never.took, { most }, certain),
      r8(
        "all are gone: answers that aren't 503 with retry-after",
        "calls",
        is(gone.answers, /^503 NodeNotAvailable \d+$/),
        { most: 0 },
        certain,
      ),
      r8("all are gone: longest answer", "ms", gone.took, { most }, certain),
    ];
  },
};
