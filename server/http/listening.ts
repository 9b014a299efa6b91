// Opens the socket of a service: with TLS or without it, and with one clear message if it can't.

import { createServer, type Server, type ServerOptions } from "node:http";
import type { AddressInfo, Socket } from "node:net";

import type { TlsFiles } from "../config/tls.ts";
import { acceptingMs } from "./connection/times.ts";
import { backlog, quietTurns } from "./connection/limits.ts";

/** Where a service listens. */
export interface Listening {
  readonly host: string;
  /** `0` takes any free port. */
  readonly port: number;
  /** Listens with https. */
  readonly tls?: Pick<TlsFiles, "cert" | "key" | "passphrase"> | undefined;
}

type Settings = ServerOptions & { readonly headersTimeout: number };

export async function createHttpServer(tls: Listening["tls"], settings: Settings): Promise<Server> {
  return tls === undefined ? createServer(settings) : await createTlsServer(tls, settings);
}

async function createTlsServer(
  tls: NonNullable<Listening["tls"]>,
  settings: Settings,
): Promise<Server> {
  const { createServer: create } = await import("node:https");
  const server = create({
    ...settings,
    ...tls,
    // An unfinished handshake occupies a connection just as an unfinished request head does.
    handshakeTimeout: settings.headersTimeout,
    ALPNProtocols: ["h2", "http/1.1"],
  });
  // Everything but HTTP/2 is for the parser of HTTP/1.1. A server of node:http2 could have both, but not the limits of
  // node:http for the latter.
  const [parse] = server.listeners("secureConnection");
  server.removeAllListeners("secureConnection");
  server.on("secureConnection", (socket) => {
    if (!speaksHttp2(socket)) parse?.call(server, socket);
  });
  return server;
}

/** Whether a TLS handshake has ended with HTTP/2. */
export function speaksHttp2(socket: Socket & { readonly alpnProtocol?: unknown }): boolean {
  return socket.alpnProtocol === "h2";
}

/**
 * Connections in the TLS handshake. The server doesn't list them, but would wait for them when it
 * closes.
 */
export function watchHandshakes(server: Server): Set<Socket> {
  const open = new Set<Socket>();
  server.on("connection", (raw: Socket) => {
    open.add(raw);
    raw.once("close", () => open.delete(raw));
  });
  server.on("secureConnection", (socket: Socket) => {
    // The raw connection has the same remote end.
    for (const raw of open)
      if (raw.remotePort === socket.remotePort && raw.remoteAddress === socket.remoteAddress)
        open.delete(raw);
  });
  return open;
}

/** The address of a service that listens, without a slash at the end. */
export function urlOf(options: Listening, { address, port }: AddressInfo): string {
  const name = options.host === "" ? address : options.host;
  return `${schemeOf(options)}://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

function schemeOf({ tls }: Listening): "http" | "https" {
  return tls === undefined ? "http" : "https";
}

export async function bind(server: Server, options: Listening): Promise<AddressInfo> {
  const { host, port } = options;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(listenError(error, options)));
    server.listen({ host: host === "" ? undefined : host, port, backlog }, resolve);
  });
  server.removeAllListeners("error");
  return server.address() as AddressInfo;
}

/**
 * Accepts the connections in the backlog, and lets no more come. A socket that closes resets its backlog, and
 * those callers can't know that their requests weren't read.
 */
export async function acceptRest(server: Server): Promise<void> {
  let isQuiet = false;
  const accepted = (): void => void (isQuiet = false);
  server.on("connection", accepted);
  // Not a public API; without it, a few callers may see a reset. With a full backlog the system drops new
  // connections: their callers try again a second later, and are refused then.
  (server as { _handle?: { listen?: (backlog: number) => number } | null })._handle?.listen?.(0);
  const end = performance.now() + acceptingMs;
  for (let quiet = 0; quiet < quietTurns && performance.now() < end;) {
    isQuiet = true;
    await new Promise((turn) => setImmediate(turn));
    quiet = isQuiet ? quiet + 1 : 0;
  }
  server.off("connection", accepted);
}

function listenError(error: NodeJS.ErrnoException, options: Listening): Error {
  const { host, port } = options;
  const url = `${schemeOf(options)}://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const reasons: Record<string, string> = {
    EADDRINUSE: `port ${port} is used by another process. Stop it, or set another port in 'url'`,
    EADDRNOTAVAIL: `${host} is not an address of this machine. Set one of its addresses in 'url', or 0.0.0.0 for all of them`,
    EACCES: `this user may not listen on port ${port}. Set a port from 1024 up in 'url'`,
    ENOTFOUND: `the host name ${host} can't be resolved. Correct it in 'url'`,
  };
  return new Error(`Can't listen at ${url}: ${reasons[error.code ?? ""] ?? error.message}`, {
    cause: error,
  });
}
