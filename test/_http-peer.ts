// A caller outside, as what sends remote calls: HTTP by `fetch`, with the trust key if it has it.

import { fetchTransport } from "../client/fetch-transport.ts";
import type { Peer } from "../src/base/ports.ts";
import { trustKeyHeader } from "../src/http/trust.ts";

export function httpPeer(trustKey?: string): Peer {
  const shown = trustKey === undefined ? {} : trustKeyHeader(trustKey);
  return {
    send: (request) =>
      fetchTransport.send({ ...request, headers: { ...request.headers, ...shown } }),
  };
}
