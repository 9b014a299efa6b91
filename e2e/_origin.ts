// An origin for pages under test, whose files tests can hold back, change or remove.

import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { runtimeFolder } from "../server/base/runtime-files.ts";

export interface Origin {
  readonly url: string;
  /** A file's text, or a call's handler, by path without query. */
  readonly files: Map<
    string,
    string | ((body: string) => { status?: number; fields?: Record<string, string>; text: string })
  >;
  /** Paths in request order. */
  readonly requested: string[];
  /** Leaves requests for a path unanswered until the returned function is called. */
  hold(path: string): () => void;
  close(): Promise<void>;
}

const types: Record<string, string> = {
  html: "text/html",
  js: "text/javascript",
  json: "application/json",
  css: "text/css",
};

/** Listens on loopback, with the strictest content security policy that the client supports. */
export async function createOrigin(): Promise<Origin> {
  // Browsers request the icon without being asked to.
  const files: Origin["files"] = new Map([["/favicon.ico", ""]]);
  // As in development, without hashes.
  for (const name of await readdir(runtimeFolder()))
    files.set(`/svc/${name}`, await readFile(join(runtimeFolder(), name), "utf8"));
  const requested: string[] = [];
  const held = new Map<string, (() => void)[]>();
  const answer = (path: string, body: string, response: ServerResponse): void => {
    const found = files.get(path);
    if (found === undefined)
      return void response.writeHead(404, { "content-type": "text/plain" }).end("Not found");
    const {
      status = 200,
      text,
      fields,
    } = typeof found === "string" ? { text: found } : found(body);
    const type = types[path.slice(path.lastIndexOf(".") + 1)] ?? "text/plain; charset=utf-8";
    response
      .writeHead(status, {
        "content-type": type,
        "cache-control": "no-cache",
        "content-security-policy": "script-src 'self'",
        ...fields,
      })
      .end(text);
  };
  const server = createServer((request, response) => {
    const path = (request.url ?? "/").replace(/\?.*/, "");
    requested.push(path);
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const act = (): void => answer(path, Buffer.concat(chunks).toString(), response);
      const waiting = held.get(path);
      if (waiting === undefined) act();
      else waiting.push(act);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    files,
    requested,
    hold(path) {
      const waiting: (() => void)[] = [];
      held.set(path, waiting);
      return () => {
        held.delete(path);
        for (const act of waiting) act();
      };
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function integrityOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
