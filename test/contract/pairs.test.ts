// Pairs of applications, read by the compiler and run: each verdict beside a call that proves it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compareContracts, type Verdict } from "../../server/contract/compare.ts";
import type { Contract } from "../../server/contract/contract.ts";
import { readContract } from "../../server/report/read-contract.ts";
import { createTestCluster, type TestCluster, TestLog } from "../../server/testing/index.ts";
import { root } from "../_sources.ts";
import { createFixture, type Files } from "../build/_fixture.ts";
import { platformConfig } from "../unit/types/_read.ts";
import { shop } from "../testing/_shop.ts";
import { type Call, type Pair, pairs } from "./_pairs.ts";

interface Build {
  readonly contract: Contract;
  readonly cluster: TestCluster;
}

let before: Build;
let after: Build;
let verdicts: readonly Verdict[];
const removals: (() => void)[] = [];

const guards = `import { Unauthorized } from "seamline";
export async function signedIn(): Promise<void> { throw new Unauthorized(); }
`;

function filesOf(isAfter: boolean): Files {
  const files: Record<string, string> = {};
  const entries: Record<string, object> = {};
  for (const [index, pair] of pairs.entries()) {
    const code = isAfter && pair.after !== undefined ? pair.after : pair.before;
    if (code === null) continue;
    files[`src/p${index}/f.ts`] = code;
    const entry = (isAfter ? pair.entryAfter : undefined) ?? pair.entry;
    entries[`./p${index}/f`] = entry ?? { f: { access: "public" } };
  }
  return {
    // The package, as a test kit's applications have it.
    ...Object.fromEntries(
      Object.entries(shop).filter(([name]) => name.startsWith("node_modules/")),
    ),
    ...files,
    "tsconfig.json": JSON.stringify(platformConfig),
    "src/guards.ts": guards,
    "segments/all.segment.json": JSON.stringify(entries),
  };
}

async function build(isAfter: boolean): Promise<Build> {
  const app = createFixture(filesOf(isAfter), (remove) => removals.push(remove));
  const { contract } = await readContract({ root: app.root, log: new TestLog() });
  return { contract, cluster: await createTestCluster({ root: app.root }) };
}

beforeAll(async () => {
  before = await build(false);
  after = await build(true);
  verdicts = compareContracts(before.contract, after.contract);
}, 120_000);

afterAll(async () => {
  await before?.cluster.stop();
  await after?.cluster.stop();
  for (const remove of removals) remove();
});

/** The status and text of an answer, or what its caller makes of it. */
async function outcome({ cluster }: Build, index: number, call: Call = {}): Promise<string> {
  const { method = "POST", args = {}, query, headers = {}, read, passTo } = call;
  const path = call.path ?? `/rpc/p${index}/f${query === undefined ? "" : `?${query}`}`;
  const answer = await cluster.fetch(path, {
    method,
    headers: { ...headers, ...(method !== "GET" && { "content-type": "application/json" }) },
    ...(method !== "GET" && { body: JSON.stringify(args).replaceAll("p#", `p${index}`) }),
  });
  const text = await answer.text();
  if (passTo !== undefined) {
    const passed = await before.cluster.fetch(`/rpc/p${index}/${passTo}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: `{"roll":${text}}`,
    });
    return `${passed.status} ${await passed.text()}`;
  }
  if (read === undefined) return `${answer.status} ${text}`;
  try {
    return String(read(text === "" ? undefined : JSON.parse(text)));
  } catch (error) {
    return String(error);
  }
}

const titled = pairs.map((pair, index): [string, number, Pair] => [
  `${pair.row}${pair.case === undefined ? "" : ` (${pair.case})`}`,
  index,
  pair,
]);

/** The rows of the page's tables: the change, and its verdict. */
function rowsOfPage(): readonly string[] {
  const page = readFileSync(join(root, "docs/guide/changing-procedures.md"), "utf8");
  return [...page.matchAll(/^\| (.+?) \| (fine|risky|\*\*breaking\*\*) \|/gm)].map(
    ([, change, verdict]) => `${change}: ${verdict!.replaceAll("*", "")}`,
  );
}

describe("of two builds", () => {
  it.each(titled)("%s", async (_, index, pair) => {
    const names = new Set([
      `p${index}/f`,
      ...[before, after].flatMap(({ contract }) =>
        contract.routes
          .filter(({ name }) => name === `p${index}/f`)
          .map(({ method, path }) => `${method} ${path}`),
      ),
    ]);
    const own = verdicts.filter(({ procedure }) => names.has(procedure));
    const told = own
      .map(({ level, member, message }) => `${level} ${member} ${message}`)
      .join("\n");
    const worst =
      own.find(({ level }) => level === "breaking") ??
      own.find(({ level }) => level === "risky") ??
      own[0];
    expect([worst?.level ?? "fine", worst?.member ?? ""], told).toEqual([
      pair.level,
      pair.member ?? "",
    ]);
    expect(await outcome(before, index, pair.call)).toContain(pair.was);
    expect(await outcome(after, index, pair.call)).toContain(pair.is);
  });

  it("changes-7: The verdicts are those of the tables in the guide, each beside a call that proves it", () => {
    const rows = new Set(pairs.map(({ row, level }) => `${row}: ${level}`));
    expect(rowsOfPage().toSorted()).toEqual([...rows].toSorted());
  });
});
