// Streams of a page whose user signs in and out, in this page or in another one.

import { expect, test } from "@playwright/test";
import { buildPackage } from "../test/process/_application.ts";
import { type Served, served } from "./_page.ts";

const door = `import { getContext, Unauthorized } from "seamline";
declare module "seamline" { interface Locals { name?: string } }
export async function signedIn(): Promise<void> {
  const { cookies, locals } = getContext();
  const name = cookies.get("name");
  if (name === undefined) throw new Unauthorized("Sign in first");
  locals.name = name;
}
`;
const desk = `import { getContext, withId } from "seamline";
export async function signIn(name: string): Promise<void> {
  getContext().response.cookies.set("name", name);
}
export async function signOut(): Promise<void> {
  getContext().response.cookies.delete("name");
}
const parked = (signal: AbortSignal) => new Promise<void>((end) => signal.addEventListener("abort", () => end()));
/** Goes on for signed-in users. */
export async function* feed(): AsyncGenerator<string> {
  const { locals, lastEventId, signal } = getContext();
  yield withId(String(Number(lastEventId ?? 0) + 1), locals.name + " " + (lastEventId ?? "-"));
  await parked(signal);
}
export async function* watch(): AsyncGenerator<string> {
  const { locals, signal } = getContext();
  yield locals.name!;
  await parked(signal);
}
export async function* open(): AsyncGenerator<string> {
  const { signal } = getContext();
  yield "for all";
  await parked(signal);
}
/** Whether it could have set a cookie, and what happened when it tried. */
export async function* sets(): AsyncGenerator<string> {
  const { cookies } = getContext().response;
  const { writable } = cookies;
  cookies.set("name", getContext().cookies.get("name")!);
  try {
    cookies.set("name", "Eve");
  } catch (error) {
    yield writable + " " + error;
  }
}
`;
const main = `// @ts-nocheck
import { startClient } from "seamline/client";
import { feed, open, sets, signIn, signOut, watch } from "./desk.ts";
await startClient("page");
const seen = (window.seen = []);
const note = async (name, stream) => {
  try {
    for await (const item of stream) seen.push(name + ": " + item);
    seen.push(name + " ended");
  } catch (error) {
    seen.push(name + " " + error.name + " " + error.message);
  }
};
Object.assign(window, {
  signIn, signOut,
  begin: () => { void note("feed", feed()); void note("watch", watch()); void note("open", open()); },
  sets: () => note("sets", sets()),
});
document.querySelector("output").textContent = "ready";
`;
const guard = "./door.ts#signedIn";
const files = {
  "segments/shop.segment.json": {
    "./desk": {
      signIn: { access: "public" },
      signOut: { access: "public" },
      feed: { access: "public", guard, resume: true },
      watch: { access: "public", guard },
      open: { access: "public" },
      sets: { access: "public" },
    },
  },
  "segments/page.segment.json": {},
  "src/door.ts": door,
  "src/desk.ts": desk,
  "src/main.ts": main,
};

let service: Served;
test.beforeAll(async () => {
  buildPackage();
  service = await served("start", files);
});
test.afterAll(() => service.remove());

test("streams follow who is signed in, also in another page of the origin", async ({
  page,
  context,
}) => {
  const other = await context.newPage();
  for (const one of [page, other]) {
    await one.goto(service.url);
    await expect(one.locator("output")).toHaveText("ready");
  }
  const seen = async (): Promise<readonly string[]> => await page.evaluate("window.seen.splice(0)");
  const untilSeen = async (count: number): Promise<readonly string[]> => {
    await expect.poll(() => page.evaluate("window.seen.length")).toBe(count);
    return [...(await seen())].toSorted();
  };
  // In one task: the call's answer and the streams that it lets in.
  await page.evaluate("signIn('Ada').then(begin)");
  expect(await untilSeen(3)).toEqual(["feed: Ada -", "open: for all", "watch: Ada"]);

  await other.evaluate("signIn('Bob')");
  expect(await untilSeen(2)).toEqual([
    "feed: Bob 1",
    "watch Unauthorized The page's cookies have changed since the stream began",
  ]);

  // The same cookie again isn't a change.
  await other.evaluate("signIn('Bob')");
  await page.evaluate("sets()");
  expect(await untilSeen(2)).toEqual([
    "sets ended",
    expect.stringMatching(/^sets: false TypeError: The cookie 'name' can't be set here/),
  ]);

  await page.evaluate("signOut()");
  expect(await untilSeen(1)).toEqual(["feed Unauthorized Sign in first"]);
});
