// Two ends of a link over a socket, as services open them.

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, createServer } from "node:tls";

import { onTestFinished } from "vitest";

import { HeldMemory } from "../../../server/host/held-memory.ts";
import { nodeHost } from "../../../server/http/host.ts";
import { type HttpServer, listen, type ListenOptions } from "../../../server/http/http.ts";
import { createLinkHost } from "../../../server/http/links/dial.ts";
import type { HttpRequest, HttpResponse } from "../../../src/base/ports.ts";
import {
  createAccepting,
  dialLink,
  type LinkService,
  type ProvenLink,
} from "../../../src/link/proven-link.ts";
import { createCertificates } from "../../_certificates.ts";

export const trustKey = "the key of this deployment";
/** The function that turns a request into one of the service's procedures. */
export const trusted = { headers: {}, from: "service" } as const;
type Answer = (request: HttpRequest) => Promise<HttpResponse>;

const host = nodeHost();
const nobody: Answer = async () => ({ status: 404, headers: {}, body: "" });

export function serviceOf(
  role: string,
  handle: Answer = nobody,
  more: Partial<LinkService> = {},
): LinkService {
  return {
    host,
    trustKey,
    role,
    instance: `${role}-1`,
    mostCalls: 1_000,
    soon: (run) => void setImmediate(run),
    handle,
    ...more,
  };
}

export interface Acceptor {
  readonly server: HttpServer;
  readonly memory: HeldMemory;
  readonly proven: ProvenLink[];
  /** Addresses of those whose proof was wrong. */
  readonly failed: unknown[];
}

/** Listens, and takes links as a gateway does. */
export async function accept(
  handle: Answer = nobody,
  options: Partial<ListenOptions> = {},
  service: LinkService = serviceOf("gateway", handle),
): Promise<Acceptor> {
  const memory = options.memory ?? new HeldMemory();
  const proven: ProvenLink[] = [];
  const failed: unknown[] = [];
  const acceptLink = createAccepting(service, {
    roles: ["node"],
    onRefusal: (from) => void failed.push(from),
    onLink: (link) => void proven.push(link),
  });
  const address = { host: "127.0.0.1", port: 0 };
  const server = await listen(handle, { ...address, memory, acceptLink, ...options });
  onTestFinished(async () => {
    for (const { link } of proven) link.close(new Error("the test is over"));
    await server.close(0);
  });
  return { server, memory, proven, failed };
}

/** Dials as a node does. */
export async function dial(
  url: string,
  service: LinkService = serviceOf("node"),
  options: Parameters<typeof createLinkHost>[0] = {},
): Promise<ProvenLink> {
  const proven = await dialLink(service, {
    roles: ["gateway"],
    name: url,
    dial: (dialing) => createLinkHost(options).dial(url, undefined, dialing),
  });
  onTestFinished(() => proven.link.close(new Error("the test is over")));
  return proven;
}

/**
 * A gateway with TLS, and the address of something before it that ends TLS with the gateway's own certificate, opens another
 * connection, and hands on each byte, with the Host as it was.
 */
export async function behindTls(): Promise<{
  readonly url: string;
  readonly middle: string;
  readonly authorities: string[];
  readonly failed: Acceptor["failed"];
}> {
  const certificates = createCertificates();
  const { cert, key } = certificates.sign("gateway", { hosts: "DNS:localhost" });
  const tls = { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
  const authorities = [readFileSync(certificates.ca, "utf8")];
  const { server, failed } = await accept(undefined, { tls });
  const { port } = new URL(server.url);
  const middle = createServer(tls, (socket) => {
    const onwards = connect({ port: Number(port), host: "localhost", ca: authorities });
    for (const end of [socket, onwards]) end.on("error", () => {});
    socket.pipe(onwards).pipe(socket);
  });
  middle.listen(0, "127.0.0.1");
  await once(middle, "listening");
  onTestFinished(() => void middle.close());
  const { port: there } = middle.address() as { port: number };
  return {
    url: `https://localhost:${port}`,
    middle: `https://localhost:${there}`,
    authorities,
    failed,
  };
}
