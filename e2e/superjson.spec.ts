// A graph of instances that refer to each other: page → proxy → gateway → node and back, and what
// the page fetches for it.

import { expect, test } from "@playwright/test";
import { type Application, buildPackage, createApplication } from "../test/process/_application.ts";
import { startService } from "./wire-application.ts";

const files: Record<string, string> = {
  "src/people/people.ts": `export class Person {
  readonly #name: string;
  friends: Person[] = [];
  constructor(name: string) {
    this.#name = name;
  }
  get name(): string {
    return this.#name;
  }
}
`,
  "src/people/meet.ts": `import { Person } from "./people.ts";
/** Makes the two persons friends and returns them, with their existing references intact. */
export async function meet(one: Person, other: Person): Promise<Person[]> {
  if (!(one instanceof Person && other instanceof Person)) throw new Error("these are no people");
  one.friends.push(other);
  other.friends.push(one);
  return [one, other];
}
export async function alone(name: string): Promise<Person> {
  return new Person(name);
}
/** Throws an error whose cause has the error itself as its cause. */
export async function quarrel(): Promise<never> {
  const error = new RangeError("one");
  throw Object.assign(error, { cause: new TypeError("other", { cause: error }) });
}
`,
  "src/main.ts": `import { startClient } from "seamline/client";
import { Person } from "./people/people.ts";
import { alone, meet, quarrel } from "./people/meet.ts";
await startClient();
Object.assign(globalThis, { Person, alone, meet, quarrel });
document.body.dataset["started"] = "true";
`,
  "index.html": `<!doctype html><link rel="icon" href="data:," /><body><script type="module" src="/src/main.ts"></script></body>\n`,
  "people.segment.json": JSON.stringify({
    "./people/meet": {
      meet: { access: "public" },
      alone: { access: "public" },
      quarrel: { access: "public" },
    },
  }),
};

interface Person {
  readonly name: string;
  friends: Person[];
}

/** Globals that main.ts sets for the tests. */
interface There {
  readonly Person: new (name: string) => Person;
  alone(name: string): Promise<Person>;
  meet(one: Person, other: Person): Promise<[Person, Person]>;
  quarrel(): Promise<never>;
}

let application: Application;
let proxy: string;

test.beforeAll(async () => {
  buildPackage();
  application = await createApplication();
  for (const [path, text] of Object.entries(files)) await application.put(path, text);
  const built = application.seamline(["build"]);
  if ((await built.ended()) !== 0) throw new Error(built.output());
  const start = async (name: string, config: object): Promise<string> =>
    (await startService(application, name, { mode: name, url: "http://127.0.0.1:0", ...config }))
      .url;
  const [repository, gateway] = await Promise.all([start("repository", {}), start("gateway", {})]);
  await start("node", { repository, gateway, segments: ["people"] });
  proxy = await start("proxy", { repository, gateway });
});
test.afterAll(() => application?.remove());

test("a cyclic graph of instances goes to a node and comes back as the same graph; superjson is fetched for the first cycle", async ({
  page,
}) => {
  const requested: string[] = [];
  const encodings: (string | undefined)[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    requested.push(pathname);
    if (pathname.startsWith("/rpc/")) encodings.push(request.headers()["x-svc-data-encoding"]);
  });
  await page.goto(proxy);
  await expect(page.locator("body")).toHaveAttribute("data-started", "true");

  // superjson isn't fetched without a cycle.
  expect(
    await page.evaluate(async () => (await (globalThis as unknown as There).alone("Ada")).name),
  ).toBe("Ada");
  const isSuperjson = (path: string): boolean => path.endsWith("/superjson.js");
  expect(requested.filter(isSuperjson)).toEqual([]);

  // A cycle in the answer only.
  const answered = await page.evaluate(async () => {
    const { Person, meet } = globalThis as unknown as There;
    const [ada, bob] = await meet(new Person("Ada"), new Person("Bob"));
    return [
      ada instanceof Person,
      ada.name,
      bob.name,
      ada.friends[0] === bob,
      bob.friends[0] === ada,
    ];
  });
  expect(answered).toEqual([true, "Ada", "Bob", true, true]);
  expect(requested.filter(isSuperjson)).toHaveLength(1);

  // A cycle among the arguments, and one over both of them.
  const sent = await page.evaluate(async () => {
    const { Person, meet } = globalThis as unknown as There;
    const [ada, bob] = [new Person("Ada"), new Person("Bob")];
    ada.friends = [ada, bob];
    bob.friends = ada.friends;
    const [one, other] = await meet(ada, bob);
    return [
      one instanceof Person && other instanceof Person,
      one.friends === other.friends,
      one.friends.map((friend) => (friend === one ? "one" : friend === other ? "other" : "nobody")),
      one !== ada,
    ];
  });
  expect(sent).toEqual([true, true, ["one", "other", "other", "one"], true]);
  expect(encodings).toEqual(["serialized, superjson", "serialized, superjson", "superjson"]);

  // An error with a circular cause.
  const thrown = await page.evaluate(async () => {
    const error = (await (globalThis as unknown as There)
      .quarrel()
      .catch((caught: unknown) => caught)) as Error & { cause: Error };
    return [
      error instanceof RangeError,
      error.cause instanceof TypeError,
      error.cause.cause === error,
    ];
  });
  expect(thrown).toEqual([true, true, true]);
  expect(requested.filter(isSuperjson)).toHaveLength(1);
});
