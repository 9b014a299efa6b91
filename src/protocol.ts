// What stands on the wire, once: every path, header and media type of the specification.

/** Where the RPC door lies (§4.1): `/rpc/<FQN>`. */
export const rpcPath = "/rpc/";

/** Where a service's console lies. Not among the others: what browsers load holds those. */
export const consolePath = "/svc/console";

/** What browsers may load: public. On its own, as a page needs this path and none of those below. */
export const browserManifestPath = "/svc/manifest.json";

/** Paths that belong to Seamline itself (§4.4, §4.5, §3). Applications can't take them. */
export const paths = {
  client: "/svc/client.js",
  hooks: "/svc/hooks.js",
  /** What a page fetches beside `client.js`: the way out, and all that values look like on it. */
  remote: "/svc/remote.js",
  /** What nodes load: for holders of the trust key. */
  serverManifest: "/svc/modules/manifest.json",
  /** Followed by a file of the server's manifest: for holders of the trust key. */
  modules: "/svc/modules/",
  health: "/health",
  healthStatus: "/health/status",
  healthLive: "/health/live",
  healthReady: "/health/ready",
  nodes: "/nodes",
} as const;

/** What a page and its development server say to each other, on Vite's line. */
export const developmentEvents = {
  /** From the page: it is there, and may have missed something. */
  here: "seamline:here",
  /** What pages hold is something else now. */
  move: "seamline:move",
  /** From the page: it goes by what it was told. */
  followed: "seamline:followed",
  /** Nothing is wrong any more. */
  mended: "seamline:mended",
} as const;

/** Header names, lower-case as Node and HTTP/2 give them. */
export const headers = {
  /** Encoding of values in the body and the answer (§2.3): `serialized` or `superjson`. */
  encoding: "x-svc-data-encoding",
  /** Kind of the returned value (decisions §2, responses). */
  dataType: "x-svc-data-type",
  /** How many services have passed the call on. */
  hops: "x-svc-hops",
  /** Milliseconds that are left for the call. A span, not a time: clocks differ. */
  deadline: "x-svc-deadline",
  /** Name of the node that ran the procedure, when that node's configuration gives it one. */
  node: "x-svc-node",
  /** Name of the framework error that an answer carries: the text alone does not tell which it is. */
  error: "x-svc-error",
} as const;

/** What services say to each other. On its own, as pages have use for none of these. */
export const serviceHeaders = {
  /** The trust key itself: for people, joins, and fetching modules. Calls carry a credential instead. */
  trustKey: "x-svc-trust-key",
  /** `<sender> <value>`: says that a service of the deployment sends the call, and for whom. */
  credential: "x-svc-credential",
  /** `yes` when a page of another origin causes the call, else `no`: what the first service learnt from the browser, for those behind it. */
  crossSite: "x-svc-cross-site",
  /** Host and scheme that the outermost caller asked for: names that applications know from other proxies. */
  forwardedHost: "x-forwarded-host",
  forwardedProto: "x-forwarded-proto",
  /** `yes` when the service refused the call itself, before anything of the application ran. */
  refused: "x-svc-refused",
} as const;

/** A call that passed more services than this goes round in a circle (decisions §4, LoopDetected). */
export const mostHops = 8;

/** What calls are sent as. */
export const jsonType = "application/json";

export const mediaTypes: Readonly<Record<"text" | "json" | "script" | "bytes", string>> = {
  text: "text/plain; charset=utf-8",
  json: jsonType,
  script: "text/javascript; charset=utf-8",
  bytes: "application/octet-stream",
};

/** On every answer but files: made for one request, and never to be taken for something else (decisions §2). */
export const answerHeaders = {
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
} as const;

export const policyHeader = "content-security-policy";

/**
 * On every answer of the RPC door. The bytes of a result may be what a stranger has uploaded: opened as a page they run no script, and are
 * of no origin.
 */
export const rpcHeaders: typeof answerHeaders & Readonly<Record<typeof policyHeader, string>> = {
  ...answerHeaders,
  [policyHeader]: "sandbox; default-src 'none'",
};

/** Query parameter that selects a procedure's version (§4.1); it is not a procedure parameter. */
export const versionParameter = "version";
