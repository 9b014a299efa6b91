// Files that people and builds write: JSON, segment files, configurations, manifests.

import { parseConfig } from "../../../server/config/config.ts";
import { parseManifest } from "../../../server/modules/parse-manifest.ts";
import { readJson } from "../../../src/base/json.ts";
import { Problems } from "../../../src/base/problem.ts";
import { writeStored } from "../../../src/codec/stored-manifest.ts";
import { parseSegment } from "../../../src/runtime/segment.ts";
import { testModules } from "../../../test/_cluster.ts";
import { names, shop } from "../../../test/spec/_shop.ts";
import { mutateText, mutateTree } from "../mutate.ts";
import type { Random } from "../random.ts";
import { Finding, type Target, tolerate } from "../target.ts";
import { randomTree } from "../values.ts";
import { safeText } from "./decoders.ts";

const json: Target = {
  name: "json",
  attempt(random) {
    const text = mutateText(random, safeText(random).slice(0, 20_000));
    const read = tolerate(text, [], () => readJson(text, "a.json"));
    let value: unknown = readJson;
    try {
      value = JSON.parse(text.replace(/^\uFEFF/, ""));
    } catch {
      // Not JSON: then we say so as well.
    }
    if (read === undefined) return;
    if ("broken" in read !== (value === readJson))
      throw new Finding("disagrees with JSON.parse", text);
  },
};

const segmentFiles = [
  { "./shop/quote": { quote: { access: "public", version: "1.0.0" }, sell: { as: "buy" } } },
  { "./hooks": { paid: { access: "public", route: "POST /hooks/:id", crossSite: true } } },
  {
    $schema: "./node_modules/seamline/schema/segment.json",
    "./a": { b: { access: "private", safe: true, idempotent: true, timeoutMs: 500 } },
  },
  {
    $guard: "./auth.ts#signedIn",
    "./a": { b: { access: "public", guard: false }, c: { access: "public", guard: "./auth" } },
  },
  { "./files/up": { put: { access: "protected", route: "PUT /files/*path", bodyBytes: 10 } } },
];

const anything = (random: Random): unknown => randomTree(random, 2);

const segments: Target = {
  name: "segments",
  attempt(random) {
    const text = JSON.stringify(mutateTree(random, random.pick(segmentFiles), anything), null, 1);
    const changed = random.once(2) ? text : mutateText(random, text);
    const file = tolerate(changed, [], () => parseSegment(changed, "a.segment.json"));
    for (const { message } of file?.problems ?? [])
      if (/Cannot read prop|is not a function|\bundefined\b.*\bundefined\b/.test(message))
        throw new Finding(`the problem says: ${message}`, changed);
  },
};

const configurations = [
  {
    mode: "standalone",
    url: "http://127.0.0.1:3000",
    origin: ["https://shop.example"],
    hosts: ["shop"],
    assets: ["**/*.png"],
    limits: { bodyBytes: 10, maxCalls: 5 },
    middleware: ["./auth"],
    healthChecks: { db: "./db" },
    log: "info",
    console: true,
  },
  {
    mode: "gateway",
    url: "http://127.0.0.1:0",
    healthIntervalMs: 500,
    trustKey: "k".repeat(40),
    members: ["10.0.0.0/8", "node.internal"],
    repository: "http://repository:1",
  },
  {
    mode: "node",
    url: "https://a:1",
    gateway: "http://b:2",
    repository: "http://c:3",
    segments: ["a"],
    tls: { cert: "a.pem", key: "${KEY}", passphrase: "${PASS}" },
  },
  { mode: "proxy", url: "http://a:1", gateway: "http://b:2", repository: "http://c:3" },
  { mode: "repository", url: "http://a:1", source: "./src", fallback: true, forwarded: true },
];

const configuration: Target = {
  name: "configuration",
  attempt(random) {
    const tree = mutateTree(random, random.pick(configurations), anything);
    tolerate(tree, [Problems], () =>
      parseConfig(tree, "seamline.json", { root: "/app", env: { KEY: "key.pem" } }),
    );
  },
};

const manifestText = testModules(
  [...shop, { fqn: "m/x", parameters: names("a"), in: { a: "public" }, body: () => async () => 1 }],
  [],
)
  .manifest()
  .then((manifest) => [writeStored(manifest), JSON.stringify(manifest)]);
let manifestTexts: readonly string[] = [];

const manifests: Target = {
  name: "manifests",
  async open() {
    manifestTexts = await manifestText;
  },
  attempt(random) {
    const text = random.pick(manifestTexts);
    const changed = random.once(3)
      ? mutateText(random, text)
      : JSON.stringify(mutateTree(random, JSON.parse(text), anything));
    try {
      parseManifest(changed, "the manifest");
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      if (!message.startsWith("the manifest isn't a manifest"))
        throw new Finding(`throws ${(thrown as Error).stack}`, changed);
      if (/Cannot read prop|not iterable|is not a function/.test(message))
        throw new Finding(`says: ${message}`, changed);
    }
  },
};

export const fileTargets: readonly Target[] = [json, segments, configuration, manifests];
