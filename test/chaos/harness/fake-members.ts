// Members of a gateway that the test plays itself, where real nodes can't be made to behave so: they
// refuse half of all calls, or join and leave many times a second.

import { openSync, writeSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";

import { procedureMs, trustKey } from "./application.ts";
import { freePort } from "./ports.ts";

/** For the gateway of fake members, which have no links, whichever way the other services use. */
export const takesFakes: { readonly link: "auto" } = { link: "auto" };

export class FakeMember {
  readonly name: string;
  /** Calls that reached it. */
  calls = 0;
  /** When the last of them came. */
  lastCall = -Infinity;
  /** For the test to note. */
  leftAt = Infinity;
  /** Decides for each call whether it is refused. */
  refuses: () => boolean = () => false;
  readonly #ledger: number;
  readonly #server = createServer((request, response) => this.#answer(request, response));
  #port = 0;
  #id: string | undefined;

  constructor(name: string, ledger: string) {
    this.name = name;
    this.#ledger = openSync(join(ledger, `${name}-${process.pid}`), "a");
  }

  async listen(): Promise<void> {
    this.#port = await freePort();
    this.#server.keepAliveTimeout = 65_000;
    await new Promise<void>((resolve) => this.#server.listen(this.#port, "127.0.0.1", resolve));
  }

  async join(gateway: string): Promise<void> {
    const answer = await fetch(`${gateway}/nodes`, {
      method: "POST",
      headers: { "x-svc-trust-key": trustKey, "content-type": "application/json" },
      body: JSON.stringify({
        url: `http://127.0.0.1:${this.#port}`,
        instance: crypto.randomUUID(),
        procedures: ["order", "stock", "count"],
        idempotent: ["stock"],
      }),
    });
    if (answer.status !== 201)
      throw new Error(`${this.name} can't join: ${answer.status} ${await answer.text()}`);
    ({ id: this.#id } = (await answer.json()) as { id: string });
  }

  async leave(gateway: string): Promise<void> {
    const answer = await fetch(`${gateway}/nodes/${this.#id}`, {
      method: "DELETE",
      headers: { "x-svc-trust-key": trustKey },
    });
    if (answer.status !== 204) throw new Error(`${this.name} can't leave: ${answer.status}`);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      if (!request.url?.startsWith("/rpc/")) return void response.end("true");
      this.calls++;
      this.lastCall = performance.now();
      if (this.refuses()) {
        const headers = { "x-svc-refused": "yes", "x-svc-not-started": "overload" };
        return void response.writeHead(503, headers).end();
      }
      const { id } = JSON.parse(body) as { id: string };
      writeSync(this.#ledger, `${id} ${performance.timeOrigin + performance.now()}\n`);
      setTimeout(() => response.end(`${this.name} ${process.pid}`), procedureMs);
    });
  }
}
