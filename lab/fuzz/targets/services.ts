// Whole services in memory: calls, joins and what services tell each other, with every part changed.

import type { Role } from "../../../src/roles/pipeline/role.ts";
import { ask, key, TestDeployment, testModules } from "../../../test/_cluster.ts";
import { dialAsMember, type FakeMember, memoryDial } from "../../../test/_fake-member.ts";
import { application, classes } from "../../../test/attack/_application.ts";
import { mutateText } from "../mutate.ts";
import type { Random } from "../random.ts";
import { checkAnswer, Finding, type Target } from "../target.ts";
import { safeText, superjsonText } from "./decoders.ts";

/** Those that take links of proxies. */
type LinkedRole = "gateway" | "node";

interface Services {
  readonly local: TestDeployment;
  /** Each has a link to the role. */
  readonly proxies: Readonly<Record<LinkedRole, FakeMember>>;
  readonly roles: Readonly<Record<"gateway" | "node" | "proxy" | "standalone", Role>>;
}

async function deploy(): Promise<Services> {
  const local = new TestDeployment();
  const modules = testModules(application, classes);
  const gateway = await local.gateway();
  const node = await local.node("node", { modules, segments: ["main"] });
  const proxy = await local.proxy();
  const standalone = await local.standalone({ modules: testModules(application, classes) });
  const linked = async (role: LinkedRole): Promise<FakeMember> =>
    await dialAsMember({
      dial: memoryDial(local.network),
      gateway: local.urlOf(role),
      role: "proxy",
      roles: [role],
    });
  const proxies = {
    gateway: await linked("gateway"),
    node: await linked("node"),
  };
  return { local, proxies, roles: { gateway, node, proxy, standalone } };
}

export let services: Services;
/** For each target anew. */
export const open = async (): Promise<void> => {
  services = await deploy();
};
export const close = async (): Promise<void> => {
  await services.local.network.close();
};

export type Fields = Record<string, string>;

const fieldValues: Readonly<Record<string, readonly string[]>> = {
  "content-type": [
    "application/json",
    "application/json; charset=utf-8",
    "text/plain",
    "application/xml",
    "multipart/form-data; boundary=b",
    "application/x-www-form-urlencoded",
  ],
  "x-svc-data-encoding": ["serialized", "superjson", "serialized, superjson", "plain"],
  "x-svc-credential": ["service", "service a", "outside a"],
  "x-svc-hops": ["0", "1", "7", "8", "99999"],
  "x-svc-deadline": ["0", "1", "1000", "1e9"],
  "x-svc-locals": ["e30", "eyJhIjoxfQ", "W10"],
  "x-svc-request": ["GET secure - http://a/b", "POST plain 1.2.3.4 https://c"],
  "x-svc-cross-site": ["yes", "no"],
  "x-svc-errors": ["masked", "shown"],
  "x-forwarded-host": ["a.b", "a.b, c.d"],
  "x-forwarded-proto": ["https", "http"],
  accept: ["text/html", "*/*", "application/json"],
  cookie: ["a=b", "a=b; c=%F0"],
  origin: ["null", "http://a.b", "http://localhost"],
  traceparent: ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "ff-0-0-0"],
  "sec-fetch-site": ["cross-site", "same-origin", "none"],
  host: ["localhost", "a.b:80", "[::1]"],
  range: ["bytes=0-1", "bytes=-", "bytes=5-1"],
  "if-none-match": ["*", '"a"'],
  "accept-encoding": ["gzip", "br;q=1, *;q=0"],
  connection: ["close", "x-a, keep-alive", "upgrade"],
  upgrade: ["websocket", "h2c"],
};

// Node hands over what one byte each can hold, without control characters.
export const asField = (text: string): string =>
  text.replace(/[^\t\x20-\x7e\x80-\xff]/g, "").trim();

export function randomFields(random: Random): Fields {
  const fields: Fields = {};
  for (const name of random.list(5, () => random.pick(Object.keys(fieldValues)))) {
    const value = random.pick(fieldValues[name] ?? []);
    fields[name] = random.once(3) ? asField(mutateText(random, value)) : value;
  }
  if (random.once(6)) fields[random.pick(["__proto__", "constructor", "x-a"])] = "1";
  return fields;
}

const paths = [
  "/rpc/a/echo",
  "/rpc/a/add?a=1&b=2",
  "/rpc/a/fail",
  "/rpc/a/secret",
  "/rpc/a/audit",
  "/rpc/a/cookie?name=a",
  "/rpc/a/setHeader?name=x&value=y",
  "/rpc/a/setCookie?name=x&value=y",
  "/rpc/a/locals",
  "/rpc/a/echo?version=1.0.0",
  "/health/status",
  "/health/ready",
  "/svc/client.js",
  "/svc/manifest.json",
  "/nodes",
  "/",
  "/index.html",
  "/svc/console",
  "/svc/routes",
];

const pathPieces = [
  "/",
  "?",
  "&",
  "=",
  "%2F",
  "%00",
  "%",
  "..",
  "version=",
  "//",
  "#",
  ";",
  "@",
  "*",
];

/** A path as Node hands it over. */
export const asTarget = (text: string): string =>
  `/${text.replace(/^\//, "").replace(/[^\x21-\xff]/g, "%20")}`;

const methods = [
  "GET",
  "POST",
  "POST",
  "POST",
  "PUT",
  "DELETE",
  "HEAD",
  "OPTIONS",
  "PATCH",
  "QUERY",
];

const calls: Target = {
  name: "calls",
  open,
  close,
  async attempt(random) {
    const role = random.pick(["gateway", "node", "proxy", "standalone"] as const);
    const method = random.pick(methods);
    const path = random.pick(paths);
    const target = random.once(2) ? path : asTarget(mutateText(random, path, pathPieces));
    const value = safeText(random);
    const json = isJson(value) ? `{"value":${value}}` : '{"value":1}';
    const body =
      method === "GET" || method === "HEAD"
        ? ""
        : random.once(4)
          ? superjsonText(random)
          : random.once(3)
            ? mutateText(random, json)
            : json;
    const fields: Fields = {
      host: "localhost",
      ...(body !== "" && { "content-type": "application/json" }),
      ...randomFields(random),
    };
    const from = random.pick([undefined, "trusted", "outside"] as const);
    const isLinked = from !== undefined && (role === "gateway" || role === "node");
    // Of people.
    if (!isLinked && random.once(3)) fields["x-svc-trust-key"] = key;
    const input = { role, method, target, fields, body, from: isLinked ? from : undefined };
    const { status, text } = isLinked
      ? await overLink(role, { method, target, fields, body, from }, input)
      : await ask(services.roles[role], method, target, fields, body);
    // The procedure's own error, and a setting that it may not make.
    if (status === 500 && /\/a\/(?:fail|set)/.test(target)) return;
    // Services and people with the key see stacks.
    const isTrusted = isLinked ? from === "trusted" : "x-svc-trust-key" in fields;
    if (!isTrusted) checkAnswer(status, text, input);
    else if (status === 500) checkAnswer(500, text, input);
    await checkAlive(role, input);
  },
};

interface LinkedCall {
  readonly method: string;
  readonly target: string;
  readonly fields: Fields;
  readonly body: string;
  readonly from: "trusted" | "outside";
}

/** As a proxy passes it on. */
async function overLink(
  role: LinkedRole,
  { method, target, fields, body, from }: LinkedCall,
  input: unknown,
): Promise<{ readonly status: number; readonly text: string }> {
  const proxy = services.proxies[role];
  if (proxy.isClosed) await proxy.dial();
  return await proxy.request(method, target, body, fields, from).catch((error: unknown) => {
    throw new Finding(`no answer: ${String(error)}`, input);
  });
}

function isJson(text: string): boolean {
  try {
    return (JSON.parse(text), true);
  } catch {
    return false;
  }
}

export async function checkAlive(role: keyof Services["roles"], input: unknown): Promise<void> {
  const { status, text } = await ask(services.roles[role], "GET", "/rpc/a/canary", {
    host: "localhost",
  });
  if (status !== 200 || text !== "alive")
    throw new Finding(`afterwards ${role} answers ${status} ${text}`, input);
}

export const serviceTargets: readonly Target[] = [calls];
