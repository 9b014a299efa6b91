// A gateway in memory whose members do as a test says.

import type { FakeMember } from "../_fake-member.ts";
import { fakeMember, memoryDial } from "../_fake-member.ts";
import { ask, TestDeployment } from "../_cluster.ts";

/** How often a gateway has lost the link of the member at `url`. */
export const lost = (lines: readonly string[], url: string): number =>
  lines.filter((line) => line.startsWith(`warning: ${url} is gone with its link`)).length;

/** Each member answers with its name. All have a procedure that may be sent again, and one that may not. */
export async function gatewayWith(names: readonly string[]) {
  const local = new TestDeployment();
  const { network, clock, log } = local;
  const gateway = await local.gateway();
  const members: FakeMember[] = [];
  const join = async (name: string): Promise<FakeMember> =>
    await fakeMember(
      { dial: memoryDial(network), instance: name },
      { procedures: ["shop/order", "shop/stock"], idempotent: ["shop/stock"] },
    );
  for (const name of names) members.push(await join(name));
  const post = { "content-type": "application/json" };
  return {
    gateway,
    network,
    clock,
    log,
    members,
    /** One more. */
    join,
    /** `"200 a"`: the answer of member a; or the status and the runtime's error. */
    async call(fqn: string): Promise<string> {
      const { status, headers, text } = await ask(gateway, "POST", `/rpc/${fqn}`, post, "{}");
      return `${status} ${status === 200 ? text : String(headers["x-svc-error"] ?? text)}`;
    },
  };
}
