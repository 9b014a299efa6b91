// Values to text and back; lab/bench/rows/p4.mjs compares them with others, each in its own process.
import { bench, describe } from "vitest";

import { Classes } from "../../../src/codec/classes.ts";
import { decodeSerialized, encodeSerialized } from "../../../src/codec/serialized.ts";
import { defaultLimits } from "../../../src/base/limits.ts";
import { Item, itemRecord, values } from "../lib/values.mjs";

const classes = new Classes();
classes.register(itemRecord, Item);
const writing = { classes, stacks: false };
const reading = { classes, limits: defaultLimits, trusted: false };

for (const [name, make] of Object.entries(values))
  describe(`serializer, ${name}`, () => {
    const value = make();
    const text = encodeSerialized(value, writing);
    bench("to text", () => {
      void encodeSerialized(value, writing);
    });
    bench("from text", () => {
      decodeSerialized(text, reading);
    });
  });
