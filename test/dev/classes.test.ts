import { describe, expect, it, onTestFinished } from "vitest";

import { develop, eventually, type Files, type Running, shop } from "./_session.ts";

/** Application modules run in this process, so a test can hold up a body that is loading. */
const here = globalThis as { gate?: Promise<void> | undefined; isMade?: boolean };

function closeGate(): () => void {
  let open = (): void => {};
  here.gate = new Promise((resolve) => (open = resolve));
  onTestFinished(() => {
    open();
    delete here.gate;
  });
  return open;
}

const slowBody = [
  'import { Money } from "./money.ts";',
  "await (globalThis as { gate?: Promise<void> }).gate;",
  "export async function slow(): Promise<number> {",
  "  return new Money(1).amount;",
  "}",
  "",
].join("\n");

/** Both nodes have a body that can wait at its top level. */
const slowShop: Files = {
  ...shop,
  "src/shop/slow.ts": slowBody,
  "segments/office.segment.json":
    '{ "./shop/quote": { "quote": { "access": "public" }, "counts": { "access": "public" } }, "./shop/slow": { "slow": { "access": "public" } } }\n',
  "segments/store.segment.json":
    '{ "./shop/stock": { "stock": { "access": "public" }, "worth": { "access": "public" } }, "./shop/slow": { "slow": { "access": "public" } } }\n',
};

const more = (edit: Running["edit"], by = 1): void =>
  edit("src/shop/money.ts", "this.amount = amount;", `this.amount = amount + ${by};`);

/** Calls as another service does. The answer is an instance with its class, or an error. */
async function ask(
  { session }: Running,
  fqn: string,
): Promise<{ readonly status: number; readonly value: unknown }> {
  const answer = await fetch(`${session.url}/rpc/${fqn}`, {
    headers: { "x-svc-data-encoding": "serialized" },
  });
  const text = await answer.text();
  return { status: answer.status, value: answer.ok ? (JSON.parse(text) as unknown) : text };
}

/** Calls until an answer has this value. Returns all answers that failed. */
async function failuresUntil(
  running: Running,
  fqn: string,
  isIt: (value: unknown) => boolean,
): Promise<unknown[]> {
  const failures = new Set<string>();
  const last = await eventually(
    async () => {
      const answer = await ask(running, fqn);
      if (answer.status !== 200) failures.add(JSON.stringify(answer));
      return answer;
    },
    ({ value }) => isIt(value),
  );
  return isIt(last.value) ? [...failures] : [...failures, "never came", last];
}

/** The value of an instance in its serialized form. */
const has = (amount: number) => (value: unknown) =>
  (value as { args?: readonly unknown[] }).args?.[0] === amount;

/**
 * Edits the class, and expects calls to return new instances without failing while a body is still
 * loading.
 */
async function leavesBeforeAllHaveCome(
  running: Running,
  fqn: string,
  amount: number,
): Promise<void> {
  const open = closeGate();
  more(running.edit);
  expect(await failuresUntil(running, fqn, has(amount))).toEqual([]);
  open();
  await running.nextEvent("reloaded");
}

describe("a class edited while calls run", () => {
  it("an edited class can be sent and received as soon as the first body that uses it is live", async () => {
    const running = await develop(slowShop);
    const { edit, get, nextEvent } = running;
    expect((await get("/rpc/shop/worth?sku=abc")).value).toBe(180);
    const open = closeGate();
    more(edit);
    expect(await failuresUntil(running, "shop/quote?sku=abc", has(61))).toEqual([]);
    // The office runs the class, and so does the store, which recreates the instance.
    expect(await failuresUntil(running, "shop/worth?sku=abc", (value) => value === 62 * 3)).toEqual(
      [],
    );
    expect((await get("/rpc/shop/slow")).value).toBe(1);
    open();
    await nextEvent("reloaded");
    expect((await get("/rpc/shop/slow")).value).toBe(2);
    expect((await get("/rpc/shop/worth?sku=abc")).value).toBe(62 * 3);
  });

  it("an edited class can be sent and received even if another body fails to load", async () => {
    const running = await develop({
      ...slowShop,
      "src/shop/slow.ts": slowBody.replace(
        /await .*/,
        'if (new Money(0).amount !== 0) throw new Error("not this Money");',
      ),
    });
    const { edit, nextEvent } = running;
    more(edit);
    await nextEvent("problems");
    expect(await failuresUntil(running, "shop/quote?sku=abc", has(61))).toEqual([]);
    expect(await failuresUntil(running, "shop/worth?sku=abc", (value) => value === 62 * 3)).toEqual(
      [],
    );
  });

  it("calls that started before an edit send instances of the old class", async () => {
    const running = await develop({
      ...shop,
      "src/shop/quote.ts": [
        'import { Money } from "./money.ts";',
        "export async function quote(sku: string): Promise<Money> {",
        "  const made = new Money(sku.length);",
        "  (globalThis as { isMade?: boolean }).isMade = true;",
        "  await (globalThis as { gate?: Promise<void> }).gate;",
        "  return made;",
        "}",
        "",
      ].join("\n"),
      "src/shop/stock.ts": "export async function stock(): Promise<number> {\n  return 0;\n}\n",
      "segments/office.segment.json": '{ "./shop/quote": { "quote": { "access": "public" } } }\n',
      "segments/store.segment.json": '{ "./shop/stock": { "stock": { "access": "public" } } }\n',
    });
    const { edit, nextEvent, events } = running;
    const open = closeGate();
    here.isMade = false;
    const call = ask(running, "shop/quote?sku=abc");
    await eventually(() => here.isMade, Boolean);
    more(edit);
    await nextEvent("reloaded");
    const since = events.length;
    edit("src/shop/money.ts", "+ 1;", "+ 2;");
    await nextEvent("reloaded", since);
    open();
    expect(await call).toMatchObject({ status: 200, value: { name: "class", args: { 0: 3 } } });
    expect(await failuresUntil(running, "shop/quote?sku=abc", has(5))).toEqual([]);
  });

  it("an edited class in a module with procedures can be sent under each of its names", async () => {
    const running = await develop({
      ...slowShop,
      "src/shop/quote.ts": [
        'import { Money } from "./money.ts";',
        "class Offer extends Money {}",
        "export { Offer as Bid };",
        "export async function quote(sku: string): Promise<Offer> {",
        "  return new Offer(sku.length);",
        "}",
        "export async function counts(): Promise<number> {",
        "  return 0;",
        "}",
        "",
      ].join("\n"),
    });
    await leavesBeforeAllHaveCome(running, "shop/quote?sku=abc", 4);
  });

  it("an edited class can be received by a body that imports it dynamically", async () => {
    const running = await develop({
      ...slowShop,
      "src/shop/stock.ts": [
        "export async function stock(sku: string): Promise<object> {",
        '  const { Money } = await import("./money.ts");',
        "  return new Money(sku.length);",
        "}",
        "export async function worth(sku: string): Promise<number> {",
        "  return sku.length;",
        "}",
        "",
      ].join("\n"),
    });
    await leavesBeforeAllHaveCome(running, "shop/stock?sku=abc", 4);
  });

  it("no call fails during ten edits of a class under load", async () => {
    const running = await develop(shop);
    const { edit, events } = running;
    const failures = new Set<string>();
    let calls = 0;
    const over = new AbortController();
    const load = ["quote?sku=abc", "worth?sku=abc", "worth?sku=abcd", "quote?sku=a"].map(
      async (target) => {
        while (!over.signal.aborted) {
          const answer = await ask(running, `shop/${target}`);
          calls++;
          if (answer.status !== 200) failures.add(JSON.stringify(answer));
        }
      },
    );
    edit("src/shop/money.ts", "= amount;", "= amount + 0;");
    for (let at = 1; at <= 10; at++) {
      const since = calls;
      await eventually(
        () => calls,
        (count) => count > since + 20,
      );
      edit("src/shop/money.ts", `+ ${at - 1};`, `+ ${at};`);
    }
    const last = await eventually(
      () => ask(running, "shop/quote?sku=abc"),
      ({ value }) => has(70)(value),
    );
    over.abort();
    await Promise.all(load);
    expect([...failures]).toEqual([]);
    expect(last.value).toMatchObject({ args: { 0: 70 } });
    expect(events.filter(({ kind }) => kind === "problems" || kind === "failed")).toEqual([]);
  });
});

it("nodes recreate instances of a class that only a page imports, if they can load its module", async () => {
  const { session, logged } = await develop({
    ...shop,
    "src/main.ts": `import "./ui/tab.ts";\nimport "./ui/note.ts";\n${shop["src/main.ts"]}`,
    "src/ui/note.ts": 'import "./note.css";\nexport class Note { text = ""; }\n',
    "src/ui/note.css": ".note { color: red; }\n",
    "src/ui/tab.ts": "const title = document.title;\nexport class Tab { title = title; }\n",
    "src/shop/take.ts":
      "export async function take(value: object): Promise<string> { return value.constructor.name; }\n",
    "segments/take.segment.json": '{ "./shop/take": { "take": { "access": "public" } } }\n',
  });
  const post = async (key: string): Promise<string> => {
    const headers = { "content-type": "application/json", "x-svc-data-encoding": "serialized" };
    const body = JSON.stringify({
      value: { serialized: true, name: "class", key, args: {}, fields: {} },
    });
    return await (
      await fetch(`${session.url}/rpc/shop/take`, { method: "POST", headers, body })
    ).text();
  };
  expect(logged.join("\n")).not.toContain("can't be loaded");
  expect(await post("ui/Note")).toBe("Note");
  expect(await post("ui/Tab")).toContain("there is no class 'ui/Tab'");
  expect(logged.join("\n")).toMatch(
    /class 'ui\/Tab' can't be loaded, so its instances are refused src\/ui\/tab\.ts:\d+:\d+: ReferenceError: document/,
  );
});
