// A call that came in for a procedure of this node: the same for node and standalone.

import type { Invoke } from "../call.ts";
import type { LocalNode } from "../dispatch.ts";
import { Unauthorized } from "../errors.ts";
import { compose } from "../middleware.ts";
import type { Host, HttpResponse } from "../ports.ts";
import { headers } from "../protocol.ts";
import type { Registration } from "../registry.ts";
import type { Classes } from "../serializer/classes.ts";
import type { Limits } from "../serializer/limits.ts";
import { decodeArguments } from "../wire/decode-call.ts";
import { encodeResult } from "../wire/encode-result.ts";
import { callOf, type IncomingCall, refuseCrossSite, withHeaders } from "../wire/rpc-door.ts";
import type { Layers } from "./role.ts";

export interface CallHereParts {
  readonly host: Host;
  readonly node: LocalNode;
  readonly layers: Layers;
  readonly classes: Classes;
  readonly limits: Limits;
  /** Told to callers as `x-svc-node`, when the configuration gives one. */
  readonly name: string | undefined;
}

export function createCallHere(
  parts: CallHereParts,
): (
  incoming: IncomingCall,
  refuse: (thrown: unknown) => Promise<HttpResponse>,
) => Promise<HttpResponse> {
  const { node, layers, classes, limits, host } = parts;
  const chains = new WeakMap<Registration, { revision: number; invoke: Invoke }>();
  const ran = parts.name === undefined ? undefined : { [headers.node]: parts.name };

  /** Composed once for each procedure and set of layers. */
  const chainOf = (registration: Registration): Invoke => {
    const known = chains.get(registration);
    if (known !== undefined && known.revision === layers.revision) return known.invoke;
    const invoke = compose(layers.list, (call) => node.invoke(registration, call), host.log);
    chains.set(registration, { revision: layers.revision, invoke });
    return invoke;
  };

  return async (incoming, refuse) => {
    const registration = node.registry.findForOutside(
      incoming.fqn,
      incoming.version.toString(),
      incoming.trusted,
    );
    if (registration.access === "protected" && !incoming.trusted) throw new Unauthorized();
    if (!registration.safe) refuseCrossSite(incoming);
    let answer: HttpResponse;
    try {
      const options = { classes, limits, trusted: incoming.trusted };
      const args = await decodeArguments(
        incoming.request,
        incoming.query,
        registration.record,
        options,
      );
      answer = await encodeResult(
        await chainOf(registration)(callOf(incoming, args)),
        incoming.encoding,
        { classes },
      );
    } catch (thrown) {
      answer = await refuse(thrown);
    }
    answer = withHeaders(answer, ran);
    return layers.list.length === 0
      ? answer
      : withHeaders(answer, incoming.headers.over(answer.headers));
  };
}
