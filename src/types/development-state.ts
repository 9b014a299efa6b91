// The state that a development session shows in its console.

/** The nodes of an application in development, and its problems. */
export interface DevelopmentState {
  /** All nodes, also those that aren't members of the gateway now. */
  readonly nodes: readonly {
    readonly name: string;
    readonly segments: readonly string[];
    readonly state: "ready" | "stopped" | "starting" | "failed";
  }[];
  /** Segments that browsers may load. */
  readonly browserSegments: readonly string[];
  /** The problems that keep the latest changes from running. */
  readonly problems: readonly string[];
}
