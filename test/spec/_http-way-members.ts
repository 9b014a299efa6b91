// Members of a gateway over HTTP that do as a test says: answer, refuse, break the connection, fall silent.

import { expect } from "vitest";

import { type HttpRequest, type HttpResponse, TransportError } from "../../src/base/ports.ts";
import type { Role } from "../../src/roles/role.ts";
import { ask, TestDeployment } from "../_cluster.ts";

/** What a member does with a call. Health checks are answered, unless it is `"silent"`. */
export type Behaviour =
  | "answer"
  | "silent"
  | "break"
  | "leaving"
  | "starting"
  | "overload"
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> };

export interface Member {
  readonly url: string;
  does: Behaviour;
  /** Health checks say so. */
  isHealthy: boolean;
  /** Calls that it got. */
  calls: number;
  /** Questions whether it is alive. */
  probes: number;
}

export const trusted = { "x-svc-trust-key": "the-trust-key-of-the-tests" };

/** How often a gateway has taken the member at `url` out of rotation. */
export const outOf = (lines: readonly string[], url: string): number =>
  lines.filter((line) => line.startsWith(`warning: ${url} can't be reached`)).length;

export async function gatewayWith(names: readonly string[]) {
  const local = new TestDeployment();
  const { network, clock, log } = local;
  const gateway = await local.gateway({ lease: 3_600_000 });
  const members: Member[] = [];
  for (const name of names) {
    const member: Member = {
      url: `http://${name}`,
      does: "answer",
      isHealthy: true,
      calls: 0,
      probes: 0,
    };
    members.push(member);
    network.roles.set(member.url, {
      handle: async (request: HttpRequest) => await answerOf(member, request, name),
    } as Role);
    const joining = {
      url: member.url,
      procedures: ["shop/order", "shop/stock"],
      idempotent: ["shop/stock"],
      instance: name,
    };
    const content = JSON.stringify(joining);
    const { status } = await ask(gateway, "POST", "/nodes", trusted, content);
    expect(status).toBe(201);
  }
  const post = { "content-type": "application/json" };
  return {
    gateway,
    network,
    clock,
    log,
    members,
    /** `"200 a"`: the answer of member a; or the status and the runtime's error. */
    async call(fqn: string): Promise<string> {
      const { status, headers, text } = await ask(gateway, "POST", `/rpc/${fqn}`, post, "{}");
      return `${status} ${status === 200 ? text : String(headers["x-svc-error"] ?? text)}`;
    },
  };
}

async function answerOf(member: Member, request: HttpRequest, name: string): Promise<HttpResponse> {
  const isCall = request.target.startsWith("/rpc/");
  if (isCall) member.calls++;
  if (request.target === "/health/live") member.probes++;
  if (member.does === "silent") return await silence(request.signal);
  if (!isCall) return { status: 200, headers: {}, body: String(member.isHealthy) };
  switch (member.does) {
    case "answer":
      return { status: 200, headers: {}, body: name };
    case "break":
      throw new TransportError(`${member.url} closed the connection before it answered`, true);
    case "leaving":
    case "starting":
    case "overload":
      return { status: 503, headers: { "x-svc-not-started": member.does }, body: "not now" };
    default:
      return { headers: {}, ...member.does, body: `from ${name}` };
  }
}

function silence(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason as Error)),
  );
}
