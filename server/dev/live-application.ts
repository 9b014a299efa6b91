// The application that nodes and pages run: the last one that was read without problems. Each
// change of the sources is compared with it and made live.

import { setTimeout as sleep } from "node:timers/promises";

import type { DevEnvironment } from "vite";

import type { ServerManifest } from "../../src/base/manifest.ts";
import type { Application } from "../compile/read/application.ts";
import { writeModuleTypes } from "../compile/read/module-types.ts";
import type { Changes } from "./changes.ts";
import type { Deployment } from "./deployment.ts";
import { difference } from "./session/difference.ts";
import { followChange } from "./follow.ts";
import type { Globs } from "./nodes/globs.ts";
import { serverManifest } from "./session/manifest.ts";
import { Moves } from "./files/moves.ts";
import { locationsOf } from "./nodes/node-segments.ts";
import { Orphans } from "./files/orphans.ts";
import type { Pages } from "./pages/pages.ts";
import type { ProblemList } from "./session/problem-list.ts";
import { loadProblems } from "./nodes/problem-of.ts";
import type { ReadApplication } from "./reading.ts";
import type { DevEvent } from "./session/session.ts";

/** How long pages wait for nodes that load what has moved to them. */
const placeTimeoutMs = 2000;

export interface LiveApplicationParts {
  readonly root: string;
  readonly environments: Readonly<Record<"browser" | "server", DevEnvironment>>;
  readonly readApplication: ReadApplication;
  readonly problems: ProblemList;
  readonly deployment: Deployment;
  readonly pages: Pages;
  readonly globs: Globs;
  readonly changes: Changes;
  readonly onEvent: (event: DevEvent) => void;
}

export class LiveApplication {
  readonly #parts: LiveApplicationParts;
  readonly #orphans: Orphans;
  readonly #moves: Moves;
  #current: Application | undefined;
  #manifest: ServerManifest | undefined;
  #types: string | undefined;
  /** Files that have changed since the last application without problems. */
  #pendingFiles = new Set<string>();
  #revisions = 0;
  /** Before that, a change only replaces the application that the nodes will start with. */
  #isStarted = false;
  /** Resolves when nodes hold what the current application gives them. */
  #placed: Promise<void> = Promise.resolve();

  constructor(parts: LiveApplicationParts) {
    const { changes, onEvent } = parts;
    this.#parts = parts;
    this.#orphans = new Orphans(onEvent, (file) => changes.add(file));
    this.#moves = new Moves(
      (procedures, ms) => onEvent({ kind: "moved", procedures, ms }),
      async () => await changes.settled(),
    );
  }

  /** `undefined` until the application has been read without problems. */
  get current(): Application | undefined {
    return this.#current;
  }

  get manifest(): ServerManifest | undefined {
    return this.#manifest;
  }

  /** Resolves when pages may follow the current application: nodes hold what has moved to them. */
  async placed(): Promise<void> {
    let placed: Promise<void> | undefined;
    const timeout = sleep(placeTimeoutMs, undefined, { ref: false });
    while (placed !== this.#placed) {
      placed = this.#placed;
      await Promise.race([placed, timeout]);
    }
  }

  /** Reads the configuration and the application for the first time. */
  async read(): Promise<void> {
    await this.#configure();
    // Judging imports would resolve them, and the plugin's resolver waits for this reading.
    const application = await this.#parts.readApplication({ judgesImports: false });
    if (application !== undefined) await this.#accept(application);
  }

  /** Starts the nodes, unless problems prevent it. */
  async start(): Promise<void> {
    const { problems } = this.#parts;
    this.#isStarted = true;
    // Without its configuration a node would have neither key nor gateway.
    if (this.#manifest !== undefined && problems.of("configuration").length === 0)
      await this.#startNodes();
  }

  /** Judges the imports, which {@link read} left out. */
  async judge(): Promise<void> {
    await this.#parts.readApplication();
  }

  /** Reads the application again after these files have changed, and makes the difference live. */
  async update(files: ReadonlySet<string>, since: number): Promise<void> {
    let place = (): void => {};
    this.#placed = new Promise<void>((resolve) => (place = resolve));
    try {
      await this.#update(files, since, place);
    } finally {
      place();
    }
  }

  async #update(files: ReadonlySet<string>, since: number, place: () => void): Promise<void> {
    const { root, environments, deployment, pages, globs, problems, onEvent } = this.#parts;
    for (const file of files) this.#pendingFiles.add(file);
    const isConfigured = deployment.isConfiguredBy(files);
    if (isConfigured) await this.#configure();
    const previous = this.#current;
    const application = await this.#parts.readApplication();
    if (application === undefined || problems.of("configuration").length > 0) return;
    if (previous !== undefined && !isConfigured && this.#orphans.wait(previous, application, files))
      return;
    await this.#accept(application);
    const pendingFiles = this.#pendingFiles;
    this.#pendingFiles = new Set();
    if (previous === undefined || isConfigured || !deployment.isRunning) {
      place();
      if (this.#isStarted) await this.#startNodes();
      // A page may have been opened before anything could run, or under the old configuration.
      return pages.reload();
    }
    const changed = difference(previous, application, (segments, { browserSegments }) =>
      locationsOf(deployment.nodeSegments, segments, browserSegments),
    );
    if (!changed.isMoved) place();
    const { events, ms } = await followChange(
      { root, environments, deployment, pages, globs },
      {
        difference: changed,
        files: pendingFiles,
        application,
        isIncomplete: this.#isIncomplete,
        since,
        onPlaced: place,
      },
      async (act) => await this.#reportLoadProblems(act),
    );
    events.forEach(onEvent);
    this.#moves.add(changed.moves, ms);
  }

  close(): void {
    this.#orphans.close();
    this.#moves.close();
  }

  /** Something couldn't be loaded. Every change tries again. */
  get #isIncomplete(): boolean {
    const { problems, deployment } = this.#parts;
    return (
      problems.of("load").length > 0 ||
      deployment.describeNodes().some(({ state }) => state === "failed")
    );
  }

  async #configure(): Promise<void> {
    const { problems, deployment } = this.#parts;
    problems.set("configuration", await deployment.configure());
  }

  async #accept(application: Application): Promise<void> {
    this.#manifest = await serverManifest(
      application,
      `${++this.#revisions}`,
      this.#parts.environments.browser.config,
    );
    this.#current = application;
    this.#types = await writeModuleTypes(application, this.#types);
  }

  async #startNodes(): Promise<void> {
    await this.#reportLoadProblems(async () => await this.#parts.deployment.start());
  }

  /** Runs what loads modules, and reports a failure as a problem. */
  async #reportLoadProblems(act: () => Promise<void>): Promise<void> {
    const { root, problems } = this.#parts;
    const found = await act().then(
      () => [],
      (error: unknown) => loadProblems(error, { root, purpose: "the application" }),
    );
    problems.set("load", found);
  }
}
