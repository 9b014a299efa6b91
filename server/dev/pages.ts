// The open pages, over Vite's line to them: what moved, what is wrong, and what they answer.

import type { HotChannelClient, HotPayload, ViteDevServer } from "vite";

import type { Manifest } from "../../src/manifest.ts";
import { formatProblem, type Problem } from "../../src/problem.ts";
import { developmentEvents } from "../../src/protocol.ts";
import { overlayError } from "./overlay.ts";

/** How long what moved is kept where it was for a page that doesn't say that it has followed, in ms: a tab in the background may sleep. */
const patience = 2000;

export class Pages {
  readonly #server: ViteDevServer;
  readonly #root: string;
  readonly #manifest: () => Promise<Manifest>;
  /** Those that have told of themselves: others have no procedures. */
  readonly #open = new Set<HotChannelClient>();
  readonly #waiting = new Map<
    number,
    { readonly left: Set<HotChannelClient>; readonly done: () => void }
  >();
  #number = 0;
  #moving: Promise<void> = Promise.resolve();
  #told = "";
  #problems: readonly Problem[] = [];
  #warnings: readonly Problem[] = [];
  #shown = "";
  /** How often pages were told to load themselves again. */
  reloads = 0;

  /** `root` is the folder that the files of problems are relative to. */
  constructor(server: ViteDevServer, root: string, manifest: () => Promise<Manifest>) {
    this.#server = server;
    this.#root = root;
    this.#manifest = manifest;
    const { hot } = server.environments.client;
    const { send } = hot;
    hot.send = (payload: HotPayload | string, ...data: readonly unknown[]) => {
      Reflect.apply(send, hot, [payload, ...data]);
      if (typeof payload === "string") return;
      if (payload.type === "full-reload") this.reloads++;
      // What Vite has replaced has another address from now on, and what the page loads by the manifest must be the same.
      if (payload.type !== "update") return;
      void this.move();
      // Vite's client removes its overlay at every update.
      for (const client of server.ws.clients) this.#show(client);
    };
    hot.on(developmentEvents.here, (_: unknown, client: HotChannelClient) => {
      this.#open.add(client);
      void this.#tell(client);
    });
    hot.on(developmentEvents.followed, (number: number, client: HotChannelClient) => {
      const waiting = this.#waiting.get(number);
      waiting?.left.delete(client);
      if (waiting?.left.size === 0) waiting.done();
    });
    hot.on("vite:client:disconnect", (_: unknown, client: HotChannelClient) => {
      this.#open.delete(client);
      for (const { left, done } of this.#waiting.values()) {
        left.delete(client);
        if (left.size === 0) done();
      }
    });
    // A page that comes while something is wrong is told at once.
    hot.on("vite:client:connect", (_: unknown, client: HotChannelClient) => this.#show(client));
  }

  /** How many pages run procedures or call some. */
  get open(): number {
    return this.#open.size;
  }

  /** Tells pages what there is now, if it is something else than before. Resolves when they have followed. */
  async move(): Promise<void> {
    this.#moving = this.#moving.then(async () => await this.#move());
    await this.#moving;
  }

  async #move(): Promise<void> {
    if (this.#open.size === 0) return;
    const manifest = await this.#manifest();
    if (manifest.revision === this.#told) return;
    this.#told = manifest.revision;
    const number = ++this.#number;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, patience);
      const done = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.#waiting.set(number, { left: new Set(this.#open), done });
      for (const client of this.#open)
        client.send({ type: "custom", event: developmentEvents.move, data: { manifest, number } });
    });
    this.#waiting.delete(number);
  }

  /** Has pages load themselves again. */
  reload(): void {
    this.#server.environments.client.hot.send({ type: "full-reload" });
  }

  /** Shows problems over the page, all at once; none takes them away. */
  problems(problems: readonly Problem[]): void {
    this.#problems = problems;
    this.#showChanged();
  }

  /** Shows what nobody should overlook although everything runs, behind the problems if there are any. */
  warnings(warnings: readonly Problem[]): void {
    this.#warnings = warnings;
    this.#showChanged();
  }

  #showChanged(): void {
    const all = [...this.#problems, ...this.#warnings];
    const shown = all.map(formatProblem).join("\n");
    if (shown === this.#shown) return;
    this.#shown = shown;
    // To those that are there: Vite keeps an error for a page that comes later, and would show it when all is well again.
    for (const client of this.#server.ws.clients) {
      if (all.length > 0) this.#show(client);
      else client.send(developmentEvents.mended);
    }
  }

  #show(client: HotChannelClient): void {
    const all = [...this.#problems, ...this.#warnings];
    if (all.length > 0) client.send(overlayError(all, this.#root));
  }

  async #tell(client: HotChannelClient): Promise<void> {
    const manifest = await this.#manifest();
    this.#told = manifest.revision;
    client.send({ type: "custom", event: developmentEvents.move, data: { manifest, number: 0 } });
  }
}
