// The open pages: sends them moves and problems over Vite's connection, and hears from them.

import type { EnvironmentModuleNode, HotChannelClient, HotPayload, ViteDevServer } from "vite";

import type { Manifest } from "../../src/base/manifest.ts";
import { formatProblem, type Problem } from "../../src/base/problem.ts";
import { developmentEvents } from "../../src/base/protocol.ts";
import { environmentNames } from "../compile/read/module-ids.ts";
import { addressOf } from "../compile/plugin/ids.ts";
import type { Application } from "../compile/cut/application.ts";
import { browserManifest } from "./manifest.ts";
import { overlayError } from "./overlay.ts";
import { followTimeoutMs } from "./times.ts";

/** The application that pages follow. */
export interface PagesSource {
  /** The last application without problems. Rejects with `Problems` if there hasn't been one. */
  readonly application: () => Promise<Application>;
  /** Whether the application has problems now. */
  readonly hasProblems: () => boolean;
}

export class Pages {
  readonly #server: ViteDevServer;
  readonly #root: string;
  readonly #source: PagesSource;
  /** Makes revisions unique to a session, so that a page never reuses another session's cache. */
  readonly #session = Date.now().toString(36);
  #manifest: Manifest | undefined;
  #manifestText = "";
  #revisions = 0;
  /**
   * Pages that run or call procedures, and the revision that each was sent. They announce themselves.
   */
  readonly #open = new Map<HotChannelClient, string | undefined>();
  readonly #waiting = new Map<
    number,
    { readonly left: Set<HotChannelClient>; readonly done: () => void }
  >();
  /** The addresses of modules that pages no longer imported at some time. */
  readonly #left = new Set<string>();
  #number = 0;
  #moving: Promise<void> = Promise.resolve();
  #problems: readonly Problem[] = [];
  #warnings: readonly Problem[] = [];
  #shown = "";
  /** A page was served that hasn't connected yet. */
  #isExpected = false;
  /** How often pages were told to reload. */
  reloads = 0;

  /** Files of problems are relative to `root`. */
  constructor(server: ViteDevServer, root: string, source: PagesSource) {
    this.#server = server;
    this.#root = root;
    this.#source = source;
    const { hot } = server.environments.client;
    const { send } = hot;
    hot.send = (payload: HotPayload | string, ...data: readonly unknown[]) => {
      Reflect.apply(send, hot, [payload, ...data]);
      if (typeof payload === "string") return;
      if (payload.type === "full-reload") this.reloads++;
      if (payload.type === "prune") for (const path of payload.paths) this.#left.add(path);
      // Vite serves an updated module at a new address, which the manifest must name too.
      if (payload.type !== "update") return;
      void this.move();
      // Vite's client removes its overlay at every update.
      for (const client of server.ws.clients) this.#show(client);
    };
    hot.on(developmentEvents.here, (_: unknown, client: HotChannelClient) => {
      this.#open.set(client, undefined);
      void this.move();
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
    // A page that connects while there are problems sees them at once.
    hot.on("vite:client:connect", (_: unknown, client: HotChannelClient) => {
      this.#isExpected = false;
      this.#show(client);
    });
  }

  /**
   * The manifest of the last application without problems, with a revision that changes with it.
   * Rejects with `Problems` until there is one.
   */
  async manifest(): Promise<Manifest> {
    const application = await this.#source.application();
    // Keep serving the last valid manifest while there are problems.
    if (this.#manifest !== undefined && this.#source.hasProblems()) return this.#manifest;
    const { config, environments } = this.#server;
    const { moduleGraph } = environments[environmentNames.browser];
    const manifest = await browserManifest(application, "", (id) =>
      addressOf(id, config, moduleGraph.getModuleById(id)?.lastHMRTimestamp),
    );
    const text = JSON.stringify(manifest);
    if (text !== this.#manifestText) this.#revisions++;
    this.#manifestText = text;
    this.#manifest = { ...manifest, revision: `development-${this.#session}-${this.#revisions}` };
    return this.#manifest;
  }

  /** A page is about to open. */
  expect(): void {
    this.#isExpected = true;
  }

  /** Whether pages had a module and don't import it any more. Vite would reload them for its edits. */
  haveLeft({ url, importers }: EnvironmentModuleNode): boolean {
    return importers.size === 0 && this.#left.has(url);
  }

  /** How many pages run or call procedures. */
  get open(): number {
    return this.#open.size;
  }

  /** Sends the manifest to pages that have another. Resolves when they have applied it. */
  async move(): Promise<void> {
    this.#moving = this.#moving.then(async () => await this.#move());
    await this.#moving;
  }

  async #move(): Promise<void> {
    if (this.#open.size === 0) return;
    const manifest = await this.manifest();
    const behind = [...this.#open].flatMap(([client, revision]) =>
      revision === manifest.revision ? [] : client,
    );
    if (behind.length === 0) return;
    const number = ++this.#number;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, followTimeoutMs);
      const done = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.#waiting.set(number, { left: new Set(behind), done });
      for (const client of behind) {
        this.#open.set(client, manifest.revision);
        client.send({ type: "custom", event: developmentEvents.move, data: { manifest, number } });
      }
    });
    this.#waiting.delete(number);
  }

  /** Without an open page, does nothing: Vite would reload the next one that opens. */
  reload(): void {
    if (this.#server.ws.clients.size === 0 && !this.#isExpected) return;
    this.#server.environments.client.hot.send({ type: "full-reload" });
  }

  /** Shows problems over the page; an empty list removes them. */
  problems(problems: readonly Problem[]): void {
    this.#problems = problems;
    this.#showChanged();
  }

  /** Shows warnings over the page, after the problems. */
  warnings(warnings: readonly Problem[]): void {
    this.#warnings = warnings;
    this.#showChanged();
  }

  #showChanged(): void {
    const all = [...this.#problems, ...this.#warnings];
    const shown = all.map(formatProblem).join("\n");
    if (shown === this.#shown) return;
    this.#shown = shown;
    // Sent to each connected client: Vite would store a broadcast error for pages that connect
    // later.
    for (const client of this.#server.ws.clients) {
      if (all.length > 0) this.#show(client);
      else client.send(developmentEvents.mended);
    }
  }

  #show(client: HotChannelClient): void {
    const all = [...this.#problems, ...this.#warnings];
    if (all.length > 0) client.send(overlayError(all, this.#root));
  }
}
