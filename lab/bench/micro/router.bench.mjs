// From a path to its endpoint. Calls don't pass here; assets, health and the rest do.
import { bench, describe } from "vitest";

import { createRouter } from "../../../src/http/router.ts";

const answer = { status: 200, headers: {}, body: "" };
const route = createRouter([
  ["GET", "/health", () => answer],
  ["GET", "/health/:check", () => answer],
  ["GET", "/svc/*path", () => answer],
  ["GET", "/modules/*path", () => answer],
  ["GET", "/*path", () => answer],
]);

describe("router", () => {
  for (const target of ["/health", "/svc/client.js", "/assets/main-3f2a.js?v=1"])
    bench(target, () => {
      void route({ method: "GET", target, headers: {} });
    });
});
