// `npm run chaos`: real processes under load, and faults; docs/reliability.md says what is promised.
// The run itself is lab/chaos/run.ts. `-- --short` runs what CI runs.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runnerImport } from "vite";
import { requireCommands } from "../scripts/commands.mjs";

const root = join(import.meta.dirname, "..");
const help = `npm run chaos -- [options]

  --short       what CI runs: less load, and only what holds on a busy machine
  --only r1,r4  these rows or scenarios
  --runs N      runs of each scenario (10)
  --seed N      repeats the random phases of a run that printed this seed
  --directory   NATS servers that are killed, hang, and are away for a minute, and nothing else
  --page        writes the tables of docs/reliability.md
  --no-anchors  leaves out nginx and HAProxy
  --web-sockets all links are WebSockets, as where something in between passes no other upgrades
`;

const { values } = parseArgs({
  options: {
    short: { type: "boolean" },
    only: { type: "string" },
    runs: { type: "string" },
    seed: { type: "string" },
    directory: { type: "boolean" },
    page: { type: "boolean" },
    "no-anchors": { type: "boolean" },
    "web-sockets": { type: "boolean" },
    help: { type: "boolean" },
  },
});

/** @param {"runs" | "seed"} name @param {number} usual @param {number} least */
function numberOf(name, usual, least) {
  const number = Number(values[name] ?? usual);
  if (Number.isInteger(number) && number >= least) return number;
  throw new Error(`--${name} must be a whole number from ${least}, not ${values[name]}`);
}

/** @param {string} tests @param {Readonly<Record<string, string | undefined>>} environment */
function vitest(tests, environment) {
  const { status } = spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", tests], {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: "inherit",
  });
  return status ?? 1;
}

function short() {
  const seed = values.seed === undefined ? {} : { CHAOS_SEED: String(numberOf("seed", 0, 0)) };
  return vitest("test/chaos", seed);
}

const directory = () => vitest("test/process/directory-faults.test.ts", { NATS_AWAY_MS: "60000" });

async function long() {
  /** @type {{ module: typeof import("./chaos/run.ts") }} */
  const { module } = await runnerImport(join(root, "lab/chaos/run.ts"), {
    root,
    configFile: false,
    logLevel: "warn",
  });
  const wrong = await module.runChaos({
    only: values.only
      ?.toLowerCase()
      .split(",")
      .map((word) => word.trim()),
    runs: numberOf("runs", 10, 1),
    seed: numberOf("seed", Math.floor(Math.random() * 2 ** 32), 0),
    writesPage: values.page === true,
    hasAnchors: !values["no-anchors"],
    print: (line) => console.log(line),
  });
  if (wrong.length > 0) console.log(`\nNot as promised:\n${wrong.join("\n")}`);
  return wrong.length > 0 ? 1 : 0;
}

// All started processes are killed when this one exits.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(130));

if (values["web-sockets"]) {
  process.env.SEAMLINE_WAY = "websocket";
  // Services that are started from here on inherit it.
  await import("../test/_web-sockets-only.mjs");
}
if (values.help) console.log(help);
else {
  requireCommands(["nats-server"]);
  process.exit(values.directory ? directory() : values.short ? short() : await long());
}
