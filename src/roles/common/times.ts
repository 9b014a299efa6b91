// All times of the roles, in milliseconds, and why they are so long. How they add up while a service is away is
// drawn in docs/reliability.md.

/** Waits before what failed is tried again: from the first they double up to the longest. */
export const retryMs = {
  /**
   * A link that is lost, after a first try at once, and a list that can't be had. It is there 2 s after the
   * other end listens. A link that lived for less than the longest doesn't begin that anew: its other end may
   * close each one at once.
   */
  link: { first: 100, longest: 2_000 },
  /** An announcement that a gateway doesn't take: the node is a member again within the same 2 s. */
  announcement: { first: 100, longest: 1_500 },
  /** An entry of the directory: a cluster elects a new leader within seconds. */
  entry: { first: 500, longest: 10_000 },
  /** The same process under a second name: it has a link already. */
  twin: 60_000,
  /** The manifest for metrics of a proxy. */
  manifest: 10_000,
} as const;

/** A call that goes on to a third service waits this long, to spare those that are in trouble together. */
export const thirdTryMs = { shortest: 20, longest: 50 } as const;

/** How long another service may take to answer. */
export const answerMs = {
  /** To take an announcement, or a list of 64 MiB. A stopping node has little time to leave. */
  POST: 5_000,
  PUT: 30_000,
  DELETE: 900,
  /** To say below which path pages are. Requests wait for it. */
  base: 2_000,
  /** To say whether the deployed build has a procedure. The call waits for it. */
  name: 1_000,
  /** To list its members, for the console of another gateway. */
  members: 2_000,
  /** What looks a name up may hang as well. */
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
   * A gateway that has restarted learns of its nodes one by one. So long a proxy keeps routes that have
   * disappeared, and the list of a service whose link is lost, while there is another one: requests for them go
   * to a gateway, which decides. Otherwise they would go to the repository, as those for files do.
   */
  routes: 15_000,
  /**
   * Services look a name up at different times. For so long, which is more than the time between two lookups,
   * a gateway that has come is used only for what others don't take, as its nodes may have yet to find it. And
   * one that is gone from its name's addresses is used on, and is left by its nodes afterwards.
   */
  gateway: 15_000,
  /** A list that a member has sent, and nobody has joined with. */
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
  /** Entries are looked at. What this host misses while it stands still counts as one time. */
  sweep: 5_000,
  /** A line of the log about what may happen thousands of times a second. */
  line: 1_000,
  /** A member asks whether a list is there that another one sends. */
  list: 200,
} as const;

/** How long a service is left alone that has said that it is leaving, or can't know yet who takes a call. */
export const restMs = { leaving: 1_000, starting: 500, nobody: 0, overload: 0 } as const;

/** How long one waits for another. */
export const patienceMs = {
  /** A file, for a repository that hangs. A dial takes a few round trips. */
  file: 1_000,
  /** The start of a service that one gateway has taken, for the others. */
  gateways: 1_000,
  /** A call, for the application, as its middleware may not need it. After that, calls fail at once. */
  application: 1_000,
  /** A gateway, for the list that it has asked a member for. One that doesn't begin seems to be gone. */
  list: 1_000,
  /** A member, for the list that another one sends. */
  sender: 3_000,
  /** A service that stops, for answers to calls that are cut; and for the directory. */
  cut: 500,
  directory: 900,
  /** A route whose module was replaced, to end its answer by itself after its signal was aborted. */
  replaced: 100,
  /**
   * Members that write again what they wrote before, when the directory is back: it may have lost all, and
   * thousands don't write at once. Gateways are few, and who starts now needs them.
   */
  membersAgain: 5_000,
} as const;
