// Servers that aren't ours, with a service mounted in each.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo, Server as NetServer } from "node:net";

import { createAdaptorServer, type HttpBindings } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";

import type { Handler } from "../../server/start/server.ts";

/** Reads a body, as the servers' own handlers do for what isn't ours. */
async function own(message: IncomingMessage, response: ServerResponse): Promise<void> {
  // Express has read it.
  let text = textOf((message as { body?: unknown }).body);
  for await (const chunk of message) text += String(chunk);
  response.setHeader("x-own", "yes");
  response.end(`own ${message.method} ${message.url} ${text}`);
}

const textOf = (body: unknown): string => (typeof body === "string" ? body : "");

const mount = (handler: Handler) => (message: IncomingMessage, response: ServerResponse) =>
  handler.node(message, response, () => void own(message, response));

/** Creates a server with the service in it, which answers other requests with `own …`. */
export const servers: Readonly<Record<string, (handler: Handler) => Promise<NetServer>>> = {
  "node:http": async (handler) => createServer(mount(handler)),

  "Express 5": async (handler) => {
    const app = express().use(handler.node).use(express.text());
    app.use((message, response) => void own(message, response));
    return createServer(app);
  },

  Fastify: async (handler) => {
    const app = fastify({ forceCloseConnections: true });
    app.addHook("onRequest", (request, reply, next) => handler.node(request.raw, reply.raw, next));
    app.all("/*", async ({ method, url, body }, reply) =>
      reply.header("x-own", "yes").send(`own ${method} ${url} ${textOf(body)}`),
    );
    await app.ready();
    return app.server;
  },

  "Hono on Node": async (handler) => {
    const app = new Hono();
    app.all("/own/*", async ({ req }) => {
      const { pathname } = new URL(req.url);
      return new Response(`own ${req.method} ${pathname} ${await req.text()}`, {
        headers: { "x-own": "yes" },
      });
    });
    app.notFound(({ req, env }) => handler.fetch(req.raw, env as HttpBindings));
    return createAdaptorServer(app);
  },
};

/** HTTP/2 without TLS: for programs. Browsers need a certificate. */
export function http2Server(handler: Handler): NetServer {
  return createHttp2Server((message, response) =>
    mount(handler)(message as unknown as IncomingMessage, response as unknown as ServerResponse),
  );
}

/** Listens on any port, and returns the address. */
export async function listening(server: NetServer): Promise<string> {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export function close(server: NetServer): void {
  server.close();
  (server as Partial<Server>).closeAllConnections?.();
}
