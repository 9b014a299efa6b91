// Measures what the console costs a gateway with and without viewers: calls through an in-memory
// gateway, taking turns with and without a console.
// node lab/bench/console.mjs [another checkout to compare with as well]

import { load, memoryGateway, request, success } from "./lib/memory-gateway.mjs";
import { median } from "./lib/statistics.mjs";

const rounds = 300;
const calls = 400;
const trustKey = "the key of this bench";

/** A gateway of a checkout [this one] with one member. */
async function gateway(withConsole, root) {
  const { createConsole } = await load("console/server/console.ts", root);
  const observe = (host) =>
    createConsole(host, { trustKey, secure: false, file: async () => undefined });
  const { role, member } = await memoryGateway({
    root,
    trustKey,
    ...(withConsole && { observe }),
  });
  await (await member({ behave: () => success })).join({ procedures: ["shop/stock"] });
  return role;
}

/** CPU time per call in µs, which depends little on other load on the machine. */
async function timeOf(role) {
  const fields = { host: "localhost", "user-agent": "bench" };
  const began = process.cpuUsage();
  for (let at = 0; at < calls; at++) {
    const { status } = await role.handle(request("GET", "/rpc/shop/stock?sku=tweed", fields));
    if (status !== 200) throw new Error(`a call was answered ${status}`);
  }
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

const without = await gateway(false);
const watched = await gateway(true);
await compare("without a console → on, not open", without, watched);
if (process.argv[2] !== undefined)
  await compare("another checkout → on, not open", await gateway(false, process.argv[2]), watched);
const events = await watched.handle(
  request("GET", "/svc/console/events", { "x-svc-trust-key": trustKey }),
);
void (async () => {
  for await (const chunk of events.body) void chunk;
})();
await new Promise((resolve) => setTimeout(resolve, 100));
await compare("without a console → open", without, watched);
process.exit(0);
