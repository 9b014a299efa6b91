// The topics of docs/specification.md, in its order, and how many statements each has. A test's
// title begins with the statement that it shows: `cors-3: a preflight …`. Further tests name the
// statement in brackets: `(cors-3)`. The words stand alone in the document and in a list of
// failures; what the runner fills in comes at their end, in brackets or behind a colon (`… (at the
// %s)`, `…: %s`).

export interface Topic {
  readonly title: string;
  readonly statements: number;
}

/** Topics by the first part of their statements' numbers, chapter by chapter. */
export const chapters: Readonly<Record<string, Readonly<Record<string, Topic>>>> = {
  "The application": {
    overview: { title: "What Seamline does", statements: 24 },
    procedures: { title: "Procedures and their parameters", statements: 19 },
    names: { title: "Names", statements: 16 },
    versions: { title: "Versions and load balancing", statements: 20 },
    segments: { title: "Segment files", statements: 31 },
    access: { title: "Access and authentication", statements: 12 },
    guards: { title: "Guards", statements: 16 },
    checks: { title: "Checks of arguments", statements: 22 },
    changes: { title: "What may change between two builds", statements: 8 },
  },
  "Calls over HTTP": {
    endpoints: { title: "Endpoints and components", statements: 7 },
    get: { title: "Calls by GET", statements: 11 },
    post: { title: "Calls by POST", statements: 9 },
    query: { title: "Calls by QUERY", statements: 8 },
    calls: { title: "Names, versions and arguments of a call", statements: 39 },
    responses: { title: "Responses", statements: 14 },
    compressed: { title: "Compressed answers", statements: 10 },
    "http-two": { title: "HTTP/2", statements: 10 },
    plain: { title: "Plain answers, Blob and File", statements: 12 },
    kept: { title: "Answers that caches may keep", statements: 4 },
    json: { title: "JSON answers and problem details", statements: 15 },
    streams: { title: "Bodies that stream", statements: 3 },
    "page-links": { title: "The link of a page", statements: 24 },
    generators: { title: "Streams of procedures", statements: 8 },
    openapi: { title: "OpenAPI documents", statements: 14 },
    uploads: { title: "Files in calls", statements: 17 },
    errors: { title: "Errors", statements: 58 },
    routes: { title: "Routes", statements: 31 },
    masked: { title: "Masked errors", statements: 10 },
  },
  Values: {
    types: { title: "Types of data", statements: 7 },
    forms: { title: "Serialized forms", statements: 51 },
    superjson: { title: "The superjson encoding", statements: 7 },
    limits: { title: "Limits", statements: 12 },
  },
  "Trust and origins": {
    trust: { title: "Trust and trusted calls", statements: 13 },
    keys: { title: "Changing the trust key", statements: 7 },
    headers: { title: "Forwarded headers", statements: 7 },
    hosts: { title: "Hosts and the public origin", statements: 10 },
    "cross-site": { title: "Cross-site requests", statements: 3 },
    cors: { title: "CORS", statements: 15 },
  },
  Hooks: {
    hooks: { title: "startServer, startClient and runProcedure", statements: 18 },
    "start-server": { title: "startServer in detail", statements: 7 },
    "browser-segments": { title: "What browsers may load", statements: 3 },
    context: { title: "The context of a procedure", statements: 28 },
    options: { title: "Options of a call", statements: 7 },
    middleware: { title: "Middleware", statements: 26 },
    configured: { title: "Configured modules", statements: 5 },
  },
  Deployment: {
    configuration: { title: "Configuration", statements: 31 },
    links: { title: "Links between services", statements: 34 },
    gateways: { title: "Several gateways", statements: 19 },
    directory: { title: "A directory of gateways", statements: 6 },
    ways: { title: "Which way calls take", statements: 12 },
    handshake: { title: "The handshake of a link", statements: 6 },
    repository: { title: "Links to a repository", statements: 9 },
    moved: { title: "Names that point elsewhere", statements: 5 },
    builds: { title: "Builds", statements: 5 },
    revisions: { title: "Earlier builds", statements: 18 },
    folders: { title: "Folders", statements: 13 },
    assets: { title: "Assets", statements: 17 },
    fallback: { title: "Deep links", statements: 8 },
    members: { title: "Members of a gateway", statements: 11 },
    joining: { title: "Joining a gateway", statements: 13 },
    leaving: { title: "Leaving the rotation", statements: 2 },
    again: { title: "Sending calls again", statements: 7 },
    overload: { title: "Too many calls", statements: 9 },
    stopping: { title: "Stopping a service", statements: 4 },
    silent: { title: "Members that fall silent", statements: 9 },
    "on-stop": { title: "The end of modules, and variables from files", statements: 4 },
    health: { title: "Health", statements: 18 },
    mounting: { title: "A service inside of another server", statements: 15 },
  },
  Operations: {
    logs: { title: "Logs", statements: 9 },
    metrics: { title: "Metrics", statements: 9 },
    traces: { title: "Traces", statements: 9 },
  },
};
