import { describe, expect, it } from "vitest";

import { Classes } from "../../../src/codec/classes.ts";

const record = {
  key: "shop/Cloth",
  module: "shop/cloth",
  export: "Cloth",
  args: ["name", "...colours"],
  fields: ["width"],
};

describe("the classes that may be rebuilt", () => {
  class Cloth {}
  const classes = new Classes();
  classes.register(record, Cloth);
  it("classes are found by their key, and by their own instances", () => {
    expect(classes.get("shop/Cloth")?.constructor).toBe(Cloth);
    expect(classes.of(new Cloth())).toBe(classes.get("shop/Cloth"));
    expect(classes.of(new (class extends Cloth {})())).toBeUndefined();
    for (const key of ["Cloth", "__proto__", "constructor", "toString"])
      expect(classes.get(key)).toBeUndefined();
  });
  it("the name of a rest parameter is recorded without its dots", () => {
    expect(classes.get("shop/Cloth")).toMatchObject({ names: ["name", "colours"], rest: 1 });
  });
  it("an export that isn't a class is refused: the build is stale", () => {
    expect(() => classes.register(record, undefined)).toThrow(
      "'shop/cloth' exports no class 'Cloth': build again",
    );
  });
});
