// What a development session is to those who show it: the terminal, and tests.

import type { Access, Parameter } from "../../src/manifest.ts";
import type { Log } from "../../src/ports.ts";
import type { Problem } from "../../src/problem.ts";

/** One node of the development cluster. */
export interface DevNode {
  readonly name: string;
  readonly segments: readonly string[];
  /** How many it holds. */
  readonly procedures: number;
  readonly state: "ready" | "stopped" | "starting" | "failed";
}

/** One version of one procedure, and where it is now. */
export interface DevProcedure {
  readonly fqn: string;
  readonly version: string;
  readonly access: Access;
  readonly segments: readonly string[];
  readonly parameters: readonly Parameter[];
  /** Names of nodes, and `page` for what pages load. */
  readonly nodes: readonly string[];
}

/** What happens while one works. Times are from the change's being seen to its being live, in ms. */
export type DevEvent =
  /** Bodies only: the state of their modules starts anew. */
  | {
      readonly kind: "replaced";
      readonly procedures: readonly string[];
      readonly where: readonly string[];
      readonly ms: number;
      readonly file: string;
    }
  /** Modules that bodies import: they and what is above them, up to the bodies. */
  | {
      readonly kind: "reloaded";
      readonly file: string;
      readonly where: readonly string[];
      readonly ms: number;
    }
  | { readonly kind: "moved"; readonly procedures: readonly Move[]; readonly ms: number }
  /** `error` is what a node threw that can't start, and `why` its message. */
  | {
      readonly kind: "node";
      readonly node: string;
      readonly state: DevNode["state"];
      readonly why?: string;
      readonly error?: unknown;
    }
  /** The last application that was whole goes on serving. With `isLive` nothing is held back: nodes and pages run what the sources say. */
  | { readonly kind: "problems"; readonly problems: readonly Problem[]; readonly isLive?: true }
  | { readonly kind: "mended" }
  | { readonly kind: "warning"; readonly problem: Problem }
  | {
      readonly kind: "failed";
      readonly fqn: string;
      readonly node: string;
      readonly error: unknown;
    };

/** Where a procedure was, and where it is now. */
export interface Move {
  readonly fqn: string;
  readonly from: readonly string[];
  readonly to: readonly string[];
}

export interface DevSession {
  /** Where the page is, and the calls go. */
  readonly url: string;
  /** A link that lets one in, good for a while; `undefined` while there is no console. */
  readonly consoleUrl: () => string | undefined;
  /** Folders whose files are followed, absolute. */
  readonly watched: readonly string[];
  /** The application has been read at least once without a mistake: only then is there anything to show. */
  readonly isRead: boolean;
  /** All nodes are there, as far as they can be: a large application is shown before. */
  readonly ready: Promise<void>;
  nodes(): readonly DevNode[];
  procedures(): readonly DevProcedure[];
  /** Calls a procedure as the application's own code does. `node` says where it ran. */
  call(
    fqn: string,
    args: Readonly<Record<string, unknown>>,
    version?: string,
  ): Promise<{ readonly value: unknown; readonly node: string | undefined; readonly ms: number }>;
  /** Stops a node, as if its machine were gone. */
  kill(node: string): Promise<void>;
  start(node: string): Promise<void>;
  /** Rewrites the segment files on disk, so that `toSegment` alone names the procedure. */
  move(fqn: string, toSegment: string): Promise<void>;
  /** Hears of everything until the returned function is called. */
  on(listener: (event: DevEvent) => void): () => void;
  close(): Promise<void>;
}

export interface DevOptions {
  /** The application folder, absolute. */
  readonly root: string;
  /** A configuration of mode standalone or repository [SVC_CONFIG, else seamline.json when there is one]. */
  readonly config?: string | undefined;
  /** Port of the page [Vite's]. */
  readonly port?: number | undefined;
  readonly host?: string | undefined;
  /** Opens the page in the browser. */
  readonly open?: boolean | undefined;
  readonly log: Log;
}

/** Starts the development server of an application. When this resolves, it listens and has read the application. */
export type StartDev = (options: DevOptions) => Promise<DevSession>;
