// Splits the address of a request.

/** Where a request goes. */
export interface Target {
  readonly origin: string;
  readonly path: string;
}

/** The origin and the path of an address. */
export function targetOf(url: string): Target {
  // The path is sent as it was written. `URL` would resolve `/rpc/../nodes`, from an outsider and
  // forwarded with the trust key, to another endpoint.
  const end = url.indexOf("/", url.indexOf("//") + 2);
  return {
    origin: originOf(end < 0 ? url : url.slice(0, end)),
    path: end < 0 ? "/" : url.slice(end),
  };
}

const origins = new Map<string, string>();
/** Members come and go, so the map of origins begins anew now and then. */
const mostOrigins = 1_000;

/** The origin of a service's address, which nearly every call needs and few addresses have. */
function originOf(base: string): string {
  let origin = origins.get(base);
  if (origin === undefined) {
    if (origins.size >= mostOrigins) origins.clear();
    origins.set(base, (origin = new URL(base).origin));
  }
  return origin;
}
