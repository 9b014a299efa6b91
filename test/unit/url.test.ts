import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

import { parsedUrl } from "../../src/base/url.ts";
import { filesIn, root } from "../_sources.ts";

it("a URL whose host isn't in ASCII is one however often it is asked", () => {
  let refused = 0;
  for (let times = 0; times < 30_000; times++)
    if (parsedUrl("https://müller.example")?.host !== "xn--mller-kva.example") refused++;
  expect(refused).toBe(0);
});

it("what is no URL is undefined, and a base makes one of a path", () => {
  expect(parsedUrl("shop")).toBeUndefined();
  expect(parsedUrl("/shop", "http://page")?.href).toBe("http://page/shop");
});

it("nothing asks URL.canParse, which forgets such hosts in Node 20", () => {
  const asking = ["src", "server", "client", "console"]
    .flatMap((room) => filesIn(room))
    .filter((file) => file.endsWith(".ts"))
    .filter((file) => /URL\.canParse\(/.test(readFileSync(join(root, file), "utf8")));
  expect(asking).toEqual([]);
});
