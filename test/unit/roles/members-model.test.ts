// Random histories of members against a model: `npm run fuzz -- --only membership` tries more.

import { expect, it } from "vitest";
import { checkMembers } from "../../../lab/fuzz/services/members-model.ts";

it("a gateway calls exactly those members that a model of joins, silence, health and returns allows, in even shares", async () => {
  await expect(checkMembers(1, 30)).resolves.toBeUndefined();
});
