// All paths, header names, media types and defaults of the wire format.

/** Calls: `/rpc/<FQN>`. */
export const rpcPath = "/rpc/";

/** The methods of calls. QUERY (RFC 10008) is for procedures that are `safe`: like POST, but it may be repeated. */
export const callMethods: readonly string[] = ["GET", "POST", "QUERY"];

/** Not one of `paths`, so that browsers don't load it. */
export const consolePath = "/svc/console";

/** A procedure's parameters, by the service that runs it; followed by its FQN. */
export const consoleTypesPath = "/svc/console/types/";

/** The routes of a gateway or node, for a proxy. Needs the trust key. */
export const routesPath = "/svc/routes";

/** Whether a node's build has a procedure for services; followed by its FQN. For services. */
export const knownNamePath = "/svc/procedures/";

/** The gateways of a node, and their members, for the console of one of them. Needs the trust key. */
export const gatewaysPath = "/svc/gateways";

/** How many calls a service runs, for the console of its gateway. Needs the trust key. */
export const callsPath = "/svc/calls";

/** A procedure's parameters, for the console's form; followed by its FQN. Needs the trust key. */
export const typesPath = "/svc/types/";

/** Lists of procedures and routes that members send to their gateway; followed by a digest. */
export const listsPath = "/nodes/lists";

/** The public manifest. Not one of `paths`, as a page needs no other. */
export const browserManifestPath = "/svc/manifest.json";

/** Seamline's own paths, which applications can't use. */
export const paths = {
  /** Seamline's own files; followed by a name. */
  components: "/svc/",
  client: "/svc/client.js",
  hooks: "/svc/hooks.js",
  /** Fetched beside `client.js`: outbound calls. */
  remote: "/svc/remote.js",
  /** Values that JSON doesn't carry. */
  codec: "/svc/codec.js",
  /** The manifest for nodes. Needs the trust key. */
  serverManifest: "/svc/modules/manifest.json",
  /** Followed by a file of that manifest. Needs the trust key. */
  modules: "/svc/modules/",
  health: "/health",
  healthStatus: "/health/status",
  healthLive: "/health/live",
  healthReady: "/health/ready",
  nodes: "/nodes",
  /** Where a service takes links. */
  link: "/svc/link",
} as const;

/** Where a page opens the WebSocket of its streams. Not in `paths`: pages without streams don't need it. */
export const pageLinkPath = "/svc/page";

/** The event of a page that doesn't have the deployed build, after a call that failed for that reason. */
export const outdatedEvent = "seamline:outdated";

/** A page's extra code in development. Not in `paths`, which pages in production carry. */
export const developmentPath = "/svc/development.js";

/** Events between a page and its development server, over Vite's socket. */
export const developmentEvents = {
  /** From the page: it has connected, and may have missed events. */
  here: "seamline:here",
  /** Procedures have moved to or from pages. */
  move: "seamline:move",
  /** From the page: it has applied the move. */
  followed: "seamline:followed",
  /** All problems are solved. */
  mended: "seamline:mended",
} as const;

/** Header names, lower-case as Node and HTTP/2 give them. */
export const headers = {
  /** Encoding of values in the body and the answer: `serialized` or `superjson`. */
  encoding: "x-svc-data-encoding",
  /** Kind of the returned value. */
  dataType: "x-svc-data-type",
  /** How many services have passed the call on. */
  hops: "x-svc-hops",
  /** Milliseconds left for the call. Not a point in time, since clocks differ. */
  deadline: "x-svc-deadline",
  /** Name of the node that ran the procedure, when that node's configuration gives it one. */
  node: "x-svc-node",
  /** Name of the framework error in an answer, for programs. */
  error: "x-svc-error",
  /** In development: which members of the arguments didn't arrive, for the page's console. A URI component. */
  dropped: "x-svc-dropped",
} as const;

/** Headers between services. Separate, as pages need none of them. */
export const serviceHeaders = {
  /** The trust key itself, which people show over HTTP. */
  trustKey: "x-svc-trust-key",
  /** Whether a page of another origin made the call (`yes`, `no`). The first service sets it. */
  crossSite: "x-svc-cross-site",
  /** Host and scheme of the original request, in the fields that other proxies use too. */
  forwardedHost: "x-forwarded-host",
  forwardedProto: "x-forwarded-proto",
  /** `masked` if a service on the way masks errors: then the others do, too. */
  errors: "x-svc-errors",
  /** `yes` if a procedure of another build made the call. The gateway knows both, and sets it. */
  otherBuild: "x-svc-other-build",
  /** Set by proxies in front: the caller's address, and those of other proxies. */
  forwardedFor: "x-forwarded-for",
  /** The outermost caller's request, as the first service saw it. */
  request: "x-svc-request",
  /** Notes of middleware about the call: base64url of JSON. */
  locals: "x-svc-locals",
  /** Settings for the answer to the outermost caller: base64url of JSON. */
  response: "x-svc-response",
  /** `yes` if the service refused the call before any code of the application ran. */
  refused: "x-svc-refused",
  /** Why the service refused a call before it began: `leaving`, `starting` or `overload`. */
  notStarted: "x-svc-not-started",
  /** In a repository's answer with the public manifest: the path below which the pages are. */
  base: "x-svc-base",
} as const;

/** Headers of a request for a link and of its answer, with which both ends prove the trust key. */
export const linkHeaders = {
  /** In a 401: the challenge that a proof has to answer. */
  challenge: "x-svc-link-challenge",
  /** The dialer's description of itself and of its connection: JSON. */
  hello: "x-svc-link-hello",
  /** A list: `<challenge>.<proof>` for each challenge that the dialer was given. */
  proof: "x-svc-link-proof",
  /**
   * Why there is no link: `key` if the proof is wrong, `binding` if it isn't tied to the TLS connection, `lack` if
   * the acceptor can't tie its own, `service` if all of that is right, and `proxy` from a proxy, which doesn't take
   * links.
   */
  refused: "x-svc-link-refused",
} as const;

/**
 * Whether it is Seamline's own header. Each service sets these itself and forwards none unchecked.
 */
export function isServiceHeader(name: string): boolean {
  return name.startsWith("x-svc-");
}

/** A call with more hops than this is in a loop. */
export const mostHops = 8;

/** The origin in requests over links, where the other end is known. */
export const anyUpstream = "http://upstream";

/** How often a gateway asks each member how it is, unless its configuration says otherwise. */
export const defaultHealthIntervalMs = 1_000;

/** How long nodes have to join a gateway that has started. */
export const defaultGatheringMs = 3_000;

/** The time between a signal to stop and cutting off the calls that still run. */
export const defaultDrainMs = 10_000;

/**
 * The longest time that a configuration or a segment file can set: a day. A timer with more than
 * 2³¹ ms would end at once.
 */
export const longestTimeMs = 86_400_000;

/** How many earlier builds are kept, and served. */
export const defaultRevisions = 1;

/** Content type of calls. */
export const jsonType = "application/json";

export const mediaTypes: Readonly<
  Record<"text" | "json" | "problem" | "script" | "bytes", string>
> = {
  text: "text/plain; charset=utf-8",
  json: jsonType,
  /** RFC 9457. */
  problem: "application/problem+json",
  script: "text/javascript; charset=utf-8",
  bytes: "application/octet-stream",
};

/** On every answer except files: don't cache it, and don't guess its type. */
export const answerHeaders = {
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
} as const;

export const policyHeader = "content-security-policy";

/**
 * On every answer to a call. A result may be bytes that an attacker uploaded: opened as a page,
 * they can't run scripts and have no origin.
 */
export const rpcHeaders: typeof answerHeaders & Readonly<Record<typeof policyHeader, string>> = {
  ...answerHeaders,
  [policyHeader]: "sandbox; default-src 'none'",
};

/** The fields of a call that decide the form of its answer. Spelled out: pages would carry a template, unused. */
export const callVary = "accept, x-svc-data-encoding";

/** Followed by a revision, selects a build: of the public manifest, and of a node's modules. */
export const revisionQuery = "?revision=";

/** Query parameter that selects a procedure's version; it is not a procedure parameter. */
export const versionParameter = "version";
