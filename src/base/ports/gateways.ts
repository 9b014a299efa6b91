// Lists the gateways of a deployment, for a service.

/** A gateway, and the address to connect to. */
export interface GatewayAddress {
  /** Scheme, host and port, without a slash at the end. Requests, TLS and handshakes use this name. */
  readonly url: string;
  /** The IP address to connect to, if several gateways have this name [the address that the name resolves to]. */
  readonly address?: string | undefined;
  /**
   * The only address that the name has now, if known. A link to another address is replaced by one to the name's
   * address at that time.
   */
  readonly resolved?: string | undefined;
}

/** The gateways of a deployment. They may come and go. */
export interface Gateways {
  /**
   * Calls `onGateways` with all of them as soon as they are known, which may be before it returns, and
   * again with all of them when they change, or may have. Call the returned function to stop.
   */
  watch(onGateways: (gateways: readonly GatewayAddress[]) => void): () => void;
}

/** The same scheme and port at an IP address. */
export function baseAt(base: string, address: string): string {
  const { protocol, port } = new URL(base);
  const host = address.includes(":") ? `[${address}]` : address;
  return `${protocol}//${host}${port === "" ? "" : `:${port}`}`;
}

/** A name that tells gateways apart, for people as well: `http://gateway:3002 (10.0.0.7)`. */
export function gatewayName({ url, address }: GatewayAddress): string {
  return address === undefined ? url : `${url} (${address})`;
}
