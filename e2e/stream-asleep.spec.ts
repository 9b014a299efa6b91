// A page that sleeps longer than its service waits for it, as in a laptop that is shut, and goes on.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, type Page, test } from "@playwright/test";
import { buildPackage } from "../test/process/_application.ts";
import { feedFiles, goesOn } from "./_feed.ts";
import { type Served, served } from "./_page.ts";

/** A network before a service, which forgets the connections that are cut while the page sleeps. */
interface Network {
  readonly url: string;
  /** Nothing arrives any more, at either end. */
  sleep(): void;
  /** New connections work. Old ones stay silent, or the page learns that they are gone. */
  wake(tells: boolean): void;
  close(): void;
}

async function networkBefore(service: string): Promise<Network> {
  const to = Number(new URL(service).port);
  const open = new Set<Socket>();
  const asleep = new Set<Socket>();
  const server = createServer((page) => {
    const behind = connect(to, "127.0.0.1");
    for (const [from, into] of [
      [page, behind],
      [behind, page],
    ] as const) {
      open.add(from);
      from.on("data", (data) => {
        if (!asleep.has(page)) into.write(data);
      });
      from.on("close", () => {
        open.delete(from);
        if (!asleep.has(page)) into.destroy();
      });
      from.on("error", () => from.destroy());
    }
    pages.add(page);
    page.on("close", () => pages.delete(page));
  });
  const pages = new Set<Socket>();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sleep() {
      for (const page of pages) asleep.add(page);
    },
    wake(tells) {
      if (tells) for (const page of asleep) page.destroy();
    },
    close() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}

const hour = 3_600_000;

/** How a page wakes. */
const ways: Readonly<
  Record<string, { tells: boolean; wake: (clock: Page["clock"]) => Promise<void> }>
> = {
  "the page learns of the cut": { tells: true, wake: async (clock) => await clock.resume() },
  "nothing tells it, and its clock has gone on": {
    tells: false,
    async wake(clock) {
      await clock.fastForward(hour);
      await clock.resume();
    },
  },
  "nothing tells it, and its clock stood still": {
    tells: false,
    async wake(clock) {
      // It notices within this minute that nothing comes.
      await clock.runFor(61_000);
      await clock.resume();
    },
  },
};

let service: Served;
test.beforeAll(async () => {
  buildPackage();
  service = await served("start", feedFiles);
});
test.afterAll(() => service.remove());

test("a stream with resume goes on in a page that has slept, and no item is lost or comes twice", async ({
  browser,
}) => {
  test.setTimeout(180_000);
  const sleepers = await Promise.all(
    Object.entries(ways).map(async ([name, way]) => {
      const page = await (await browser.newContext()).newPage();
      const network = await networkBefore(service.url);
      return { name, way, page, network };
    }),
  );
  try {
    for (const { page, network } of sleepers) {
      await page.clock.install();
      await page.goto(network.url);
      await goesOn(page);
    }
    const readers = async (): Promise<string> =>
      await (await fetch(`${service.url}/rpc/shop/readers`)).text();
    expect(await readers()).toBe(String(sleepers.length));
    for (const { page, network } of sleepers) {
      network.sleep();
      await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1_000));
    }
    // The service has given them up.
    await expect.poll(readers, { timeout: 60_000, intervals: [1_000] }).toBe("0");
    for (const { name, way, page, network } of sleepers) {
      network.wake(way.tells);
      await way.wake(page.clock);
      const { lost, doubled, error } = await goesOn(page);
      expect([lost, doubled, error], name).toEqual([0, 0, ""]);
    }
    expect(await readers()).toBe(String(sleepers.length));
  } finally {
    for (const { page, network } of sleepers) {
      network.close();
      await page.context().close();
    }
  }
});
