// All times of the roles, in ms, with their reasons. docs/reliability.md shows how they add up while a service is
// away.

/** Waits before another try: from the first they double up to the longest. */
export const retryMs = {
  /**
   * For a lost link, after a first try at once, and for a list that couldn't be fetched. A link is back within 2 s
   * after the other end listens. A link that lived for less than the longest wait doesn't reset the waits: its other
   * end may close each one at once.
   */
  link: { first: 100, longest: 2_000 },
  /** For an announcement that a gateway refused: the node is a member again within the same 2 s. */
  announcement: { first: 100, longest: 1_500 },
  /** An entry of the directory: a cluster elects a new leader within seconds. */
  entry: { first: 500, longest: 10_000 },
  /** The same process under a second name: it has a link already. */
  twin: 60_000,
  /** The manifest for metrics of a proxy. */
  manifest: 10_000,
} as const;

/** The wait before a call goes to a third service, to spare services that fail together. */
export const thirdTryMs = { shortest: 20, longest: 50 } as const;

/** How long another service may take to answer. */
export const answerMs = {
  /** To take an announcement, or a list of 64 MiB. A stopping node has little time to leave. */
  POST: 5_000,
  PUT: 30_000,
  DELETE: 900,
  /** For the base path of pages. Requests wait for it. */
  base: 2_000,
  /** For whether the deployed build has a procedure. The call waits for it. */
  name: 1_000,
  /** To list its members, for the console of another gateway. */
  members: 2_000,
  /** Looking up a name may hang as well. */
  lookup: 3_000,
  /**
   * A node ends a call that exceeds the time limit of its procedure. It answers within this many more, unless
   * it hangs: its time begins when it has read the arguments.
   */
  late: 500,
} as const;

/** How long something that others may still need is kept. */
export const keptMs = {
  /**
   * How long a proxy keeps routes that have disappeared, and the list of a service whose link is lost while there is
   * another link. A gateway that has restarted learns of its nodes one by one. Requests for such routes go to a
   * gateway, which decides; otherwise they would go to the repository, like those for files.
   */
  routes: 15_000,
  /**
   * Services look up a name at different times. For this long, which is more than the time between two lookups, a new
   * gateway is used only for calls that others don't take, as its nodes may have yet to find it. A gateway whose
   * address has gone from the name is used for as long, and then left.
   */
  gateway: 15_000,
  /** A list that a member has sent, and that no member has joined with. */
  list: 10_000,
  /** The link to a repository for modules: longer than the pauses between two tries. */
  modules: 10_000,
} as const;

/** How often something is done. */
export const everyMs = {
  /** The names of gateways and of the repository are looked up. */
  lookup: 10_000,
  /** A process writes its entry in the directory. */
  entry: 30_000,
  /** Entries of the directory are checked. A host that stands still misses checks, which count as one. */
  sweep: 5_000,
  /** A log line about an event that may happen thousands of times a second. */
  line: 1_000,
  /** A member asks whether a list is there that another one sends. */
  list: 200,
} as const;

/** How long a service gets no calls after it said that it is leaving, or that its members have yet to join. */
export const restMs = { leaving: 1_000, starting: 500, "no-member": 0, overload: 0 } as const;

/** The patience of one part with another. */
export const patienceMs = {
  /** A file, for a repository that hangs. A dial takes a few round trips. */
  file: 1_000,
  /** The start of a service that one gateway has taken, for the others. */
  gateways: 1_000,
  /** A call, for the application, as its middleware may not need it. After that, calls fail at once. */
  application: 1_000,
  /** A gateway, for the list that it has asked a member for. A member that doesn't begin seems to be gone. */
  list: 1_000,
  /** A member, for the list that another one sends. */
  sender: 3_000,
  /** A service that stops, for answers to calls that are cut; and for the directory. */
  cut: 500,
  directory: 900,
  /** A route whose module was replaced, to end its answer by itself after its signal was aborted. */
  replaced: 100,
  /**
   * Members, before they write an unchanged entry again when the directory is back. It may have lost all entries, and
   * thousands must not write at once. Gateways don't wait: they are few, and starting services need them.
   */
  membersAgain: 5_000,
} as const;

// runs/stream-run.ts
/** The head of a stream waits so long for its first item: a failure before is an ordinary error, with its status. */
export const headMs = 1_000;
/** A reader that has signed out, or lost a right, keeps its stream for at most a quarter of an hour. */
export const guardMs = 900_000;
