// Controls for development: kill and start nodes, move procedures.

import { addressOf } from "../base/address.ts";
import type { DevelopmentState } from "../../console-state.ts";
import type { Model } from "../base/model.ts";

type Node = DevelopmentState["nodes"][number];

/** The service accepts these requests from its own machine only. */
const isLocal = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(location.hostname);

/** The development state; `undefined` in production and on other machines. */
export function controlled(model: Model): DevelopmentState | undefined {
  return isLocal ? model.development : undefined;
}

export const moveProcedure = async (procedure: string, segment: string): Promise<void> =>
  await post("move", { procedure, segment });

/** Kills a running node, starts a stopped one. */
export async function switchNode({ name, state }: Node): Promise<void> {
  await post(verbOf(state), { node: name });
}

export const verbOf = (state: Node["state"]): "kill" | "start" =>
  state === "ready" ? "kill" : "start";

export function nodeNamed(model: Model, name: string | undefined): Node | undefined {
  return controlled(model)?.nodes.find((node) => node.name === name);
}

/** Segment names, with where their procedures run. */
export function segmentsIn({ nodes, browserSegments }: DevelopmentState): Map<string, string> {
  return new Map([
    ...browserSegments.map((segment) => [segment, "browser"] as const),
    ...nodes.flatMap(({ name, segments }) =>
      segments.map((segment) => [segment, `node ${name}`] as const),
    ),
  ]);
}

/** Rejects with the service's reason if it refuses. */
async function post(action: string, values: Readonly<Record<string, string>>): Promise<void> {
  const answer = await fetch(addressOf(`/development/${action}`), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(values),
  });
  if (!answer.ok) throw new Error(await answer.text());
}
