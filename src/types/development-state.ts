// What a development session tells its console.

/** The nodes of an application in development, and what is wrong with it. */
export interface DevelopmentState {
  /** All nodes, also those that are no members of the gateway now. */
  readonly nodes: readonly {
    readonly name: string;
    readonly segments: readonly string[];
    readonly state: "ready" | "stopped" | "starting" | "failed";
  }[];
  /** Segments that browsers may load. */
  readonly browserSegments: readonly string[];
  /** What keeps the latest changes from running, if anything does. */
  readonly problems: readonly string[];
}
