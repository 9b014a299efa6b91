// Measures what the console costs a gateway with and without viewers: calls through an in-memory
// gateway, taking turns with and without a console.
// node bench/console.mjs [another checkout to compare with as well]

import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

import { memoryHost, request, success } from "./lib/memory-host.mjs";
import { median } from "./lib/statistics.mjs";

const here = fileURLToPath(new URL("..", import.meta.url));
const rounds = 300;
const calls = 400;
const host = memoryHost(async () => success);
const options = {
  trustKey: "the key of this bench",
  limits: undefined,
  healthIntervalMs: 1e8,
  lease: 1e8,
  newId: () => "1",
};
/** Loads a checkout's modules once, as two copies would be optimised separately. */
const loaded = new Map();
const load = async (root, file) => {
  const path = `${root}${file}`;
  if (!loaded.has(path))
    loaded.set(
      path,
      (await runnerImport(path, { root, configFile: false, logLevel: "error" })).module,
    );
  return loaded.get(path);
};

/** A gateway with one member. */
async function gateway(root, withConsole) {
  const [{ createGateway }, { defaultLimits }] = [
    await load(root, "src/roles/relay/gateway.ts"),
    await load(root, "src/codec/values/limits.ts"),
  ];
  const console = withConsole
    ? (await load(root, "server/console/console.ts")).createConsole(host, {
        trustKey: options.trustKey,
        secure: false,
        file: async () => undefined,
      })
    : undefined;
  const made = createGateway(host, {
    ...options,
    limits: defaultLimits,
    ...(console && { observer: console }),
  });
  await made.start("http://127.0.0.1:1");
  const key = { "x-svc-trust-key": options.trustKey };
  await made.handle(
    request(
      "POST",
      "/nodes",
      key,
      JSON.stringify({ url: "http://node", procedures: ["shop/stock"] }),
    ),
  );
  return made;
}

/** CPU time per call in µs, which depends little on other load on the machine. */
async function timeOf(role) {
  const fields = { host: "a", "user-agent": "bench" };
  const began = process.cpuUsage();
  for (let at = 0; at < calls; at++)
    await role.handle(request("GET", "/rpc/shop/stock?sku=tweed", fields));
  const { user, system } = process.cpuUsage(began);
  return (user + system) / calls;
}

/** Each round measures both, in alternating order. */
async function compare(name, base, other) {
  for (const setup of [base, other]) for (let warm = 0; warm < 20; warm++) await timeOf(setup);
  const pairs = [];
  for (let round = 0; round < rounds; round++) {
    const first = round % 2 === 0;
    const earlier = await timeOf(first ? base : other);
    const later = await timeOf(first ? other : base);
    pairs.push(first ? [earlier, later] : [later, earlier]);
  }
  const ratio = median(pairs.map(([a, b]) => b / a));
  console.log(
    `${name.padEnd(52)} ${median(pairs.map(([a]) => a)).toFixed(2)} → ${median(pairs.map(([, b]) => b)).toFixed(2)} µs a call, ratio ${ratio.toFixed(3)}`,
  );
}

const without = await gateway(here, false);
const watched = await gateway(here, true);
await compare("without a console → on, and nobody looks", without, watched);
if (process.argv[2] !== undefined)
  await compare(
    "another checkout → on, and nobody looks",
    await gateway(`${process.argv[2]}/`, false),
    watched,
  );
const events = await watched.handle(
  request("GET", "/svc/console/events", { "x-svc-trust-key": options.trustKey }),
);
void (async () => {
  for await (const chunk of events.body) void chunk;
})();
await new Promise((resolve) => setTimeout(resolve, 100));
await compare("without a console → somebody looks", without, watched);
process.exit(0);
