// A development session, as the terminal and tests see it.

import type { Log } from "../../src/base/ports.ts";
import type { Problem } from "../../src/base/problem.ts";
import type { MemberProcedure } from "../../src/roles/members/member-details.ts";

/** One node of the development cluster. */
export interface DevNode {
  readonly name: string;
  readonly segments: readonly string[];
  /** How many procedures it holds. */
  readonly procedures: number;
  readonly state: "ready" | "stopped" | "starting" | "failed";
}

/** One version of one procedure, and where it is now. */
export interface DevProcedure extends MemberProcedure {
  /** Names of nodes, and `page` if pages load it. */
  readonly nodes: readonly string[];
}

/** An event of a session. `ms` is the time from seeing a change until it was live. */
export type DevEvent =
  /** Only bodies have changed. Their own module state starts anew. */
  | {
      readonly kind: "replaced";
      readonly procedures: readonly string[];
      readonly where: readonly string[];
      readonly ms: number;
      readonly file: string;
    }
  /** Modules that bodies import, and their importers up to the bodies. */
  | {
      readonly kind: "reloaded";
      readonly file: string;
      readonly where: readonly string[];
      readonly ms: number;
    }
  | { readonly kind: "moved"; readonly procedures: readonly Move[]; readonly ms: number }
  /** If a node can't start, it has thrown `error`, whose message is `why`. */
  | {
      readonly kind: "node";
      readonly node: string;
      readonly state: DevNode["state"];
      readonly why?: string;
      readonly error?: unknown;
    }
  /**
   * The last valid application keeps running. With `isLive`, the current sources run despite the
   * problems.
   */
  | { readonly kind: "problems"; readonly problems: readonly Problem[]; readonly isLive?: true }
  /** Another change has left them as they are. */
  | { readonly kind: "unsolved"; readonly problems: readonly Problem[] }
  | { readonly kind: "mended" }
  | { readonly kind: "warning"; readonly problem: Problem }
  | {
      readonly kind: "failed";
      readonly fqn: string;
      readonly node: string;
      readonly error: unknown;
    };

/** Where a procedure ran before a change, and where it runs now. */
export interface Move {
  readonly fqn: string;
  readonly from: readonly string[];
  readonly to: readonly string[];
}

export interface DevSession {
  /** Address of the page, and of calls. */
  readonly url: string;
  /** A link that opens the console, valid for a while; `undefined` while there is no console. */
  readonly consoleUrl: () => string | undefined;
  /** Watched folders, absolute. */
  readonly watched: readonly string[];
  /**
   * Whether the application has been read without problems at least once. Until then nothing runs.
   */
  readonly isRead: boolean;
  /** Resolves when every node is ready or has failed. A large application is shown before that. */
  readonly ready: Promise<void>;
  nodes(): readonly DevNode[];
  procedures(): readonly DevProcedure[];
  /** Calls a procedure as the application's own code does. `node` is where it ran. */
  call(
    fqn: string,
    args: Readonly<Record<string, unknown>>,
    version?: string,
  ): Promise<{ readonly value: unknown; readonly node: string | undefined; readonly ms: number }>;
  /** Stops a node as if its machine had failed. */
  kill(node: string): Promise<void>;
  start(node: string): Promise<void>;
  /** Rewrites the segment files on disk so that only `toSegment` names the procedure. */
  move(fqn: string, toSegment: string): Promise<void>;
  /** Gets all events until the returned function is called. */
  on(listener: (event: DevEvent) => void): () => void;
  close(): Promise<void>;
}

export interface DevOptions {
  /** The application folder, absolute. */
  readonly root: string;
  /**
   * A configuration of mode standalone or repository [SEAMLINE_CONFIG, else seamline.json if it
   * exists].
   */
  readonly config?: string | undefined;
  /** Port of the page [Vite's]. */
  readonly port?: number | undefined;
  readonly host?: string | undefined;
  /** Opens the page in the browser. */
  readonly open?: boolean | undefined;
  readonly log: Log;
}

/**
 * Starts the development server of an application. Resolves when it listens and has read the
 * application.
 */
export type StartDev = (options: DevOptions) => Promise<DevSession>;
