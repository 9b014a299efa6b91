import { expect, it } from "vitest";

import { proceduresIn } from "../../../src/roles/members/manifest-procedures.ts";
import { routeModules } from "../../_routes.ts";

it("a manifest's routes are listed with the most open access of their segments", async () => {
  const run = async (): Promise<Response> => new Response();
  const hook = { name: "site/hook", route: "POST /hooks/:provider", run } as const;
  const modules = routeModules([
    { name: "site/feed", route: "GET /feed.xml", run },
    { ...hook, access: "private" },
    { ...hook, access: "protected", segment: "b" },
  ]);
  const feed = { fqn: "site/feed", version: "0.0.0", access: "public", segments: ["site"] };
  expect(proceduresIn((await modules.manifest()) as never)).toEqual([
    { ...feed, parameters: [], route: "GET /feed.xml" },
    {
      ...feed,
      fqn: "site/hook",
      access: "protected",
      segments: ["site", "b"],
      parameters: [],
      route: "POST /hooks/:provider",
    },
  ]);
});
