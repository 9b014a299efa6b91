// Forms of parameters whose types other modules export.

import { expect, it } from "vitest";

import { createFixture } from "./_fixture.ts";
import { readAt } from "./_reading.ts";

it("the form of a parameter follows types, enums and interfaces through the modules that export them; what isn't found stays text or JSON", async () => {
  const fixture = createFixture({
    "src/shop/orders.ts": `import { type Colour as Tint, Size, type Period, type Lost, type Round, type Metres } from "./types.ts";
import type { Missing } from "./nowhere.ts";
import * as all from "./types.ts";
export async function order(
  colour: Tint | "any",
  size: Size | null,
  period: Period,
  metres: Metres,
  { state, lost }: { state?: Tint; lost: Lost },
  round: Round,
  missing: Missing,
  member: all.Colour,
  listed: Tint[],
  generic: Partial<Period>,
): Promise<void> {}
`,
    "src/shop/types.ts": `import type { Metres as Length } from "./units.ts";
export type { Length as Metres };
export type { Colour } from "./colours.ts";
export * from "./nowhere.ts";
export * from "./periods.ts";
export enum Size { Small = "S", Large = "L" }
export type { Round } from "./round.ts";
`,
    "src/shop/colours.ts": 'type Warm = "red"; export type Colour = Warm | "blue";',
    "src/shop/units.ts": "export type Metres = number;",
    "src/shop/periods.ts": "export interface Period { from: Date }",
    "src/shop/round.ts": 'export type { Round } from "./types.ts";',
    "shop.segment.json": '{ "./shop/orders": { "order": { "access": "public" } } }',
  });
  const [found] = (await readAt(fixture.root)).procedures;
  expect(found?.parameters).toEqual([
    { kind: "plain", name: "colour", form: ["red", "blue", "any"] },
    { kind: "plain", name: "size", form: ["S", "L", null] },
    { kind: "plain", name: "period", form: "object" },
    { kind: "plain", name: "metres", form: "number" },
    {
      kind: "object",
      names: [{ name: "state", optional: true, form: ["red", "blue"] }, { name: "lost" }],
    },
    { kind: "plain", name: "round" },
    { kind: "plain", name: "missing" },
    { kind: "plain", name: "member" },
    { kind: "plain", name: "listed", form: "list" },
    { kind: "plain", name: "generic" },
  ]);
});
