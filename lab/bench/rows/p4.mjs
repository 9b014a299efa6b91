// P4: values to text and back.

import { fileURLToPath } from "node:url";

import { fork, nextMessage } from "../lib/processes.mjs";
import { bundled } from "../lib/source.mjs";
import { values } from "../lib/values.mjs";

const loop = fileURLToPath(new URL("../servers/loop.mjs", import.meta.url));

const entry = `export { decodeSerialized, encodeSerialized } from "~/src/codec/serialized.ts";
export { Classes } from "~/src/codec/classes.ts";
export { defaultLimits } from "~/src/base/limits.ts";
`;

/** @type {Map<string | undefined, Promise<string>>} */
const bundles = new Map();
const codecOf = (checkout) => {
  if (!bundles.has(checkout)) bundles.set(checkout, bundled(entry, checkout));
  return bundles.get(checkout);
};

/** @param {string} name @param {string} file @param {string} value @param {() => Promise<string | undefined>} [bundle] */
const serializer = (name, file, value, bundle = async () => undefined) => ({
  name,
  async start() {
    const address = await bundle();
    const process = await fork(loop, [file, value, ...(address ? [address] : [])]);
    return {
      async measure(seconds) {
        const message = nextMessage(process);
        process.child.send({ seconds });
        return (await message).cost;
      },
      stop: process.stop,
    };
  },
});

export const title = "Serializers: a value to text and back";
export const about =
  "Each value goes to text and back, in a process of its own. The limit knows the shape of the value and uses `JSON`. Peers that can't carry a value say so; v8 makes bytes, not text.";

/** @param {{ against?: string }} options @returns {import("../lib/rounds.mjs").Case[]} */
export const cases = ({ against }) =>
  Object.keys(values).map((name) => ({
    name,
    unit: "CPU µs there and back",
    share: true,
    subjects: [
      serializer("JSON by hand", "by-hand", name),
      serializer("Seamline", "seamline", name, () => codecOf(undefined)),
      ...(against
        ? [serializer("Seamline, before", "seamline", name, () => codecOf(against))]
        : []),
      serializer("Cap'n Web", "capnweb", name),
      serializer("devalue", "devalue", name),
      serializer("superjson", "superjson", name),
      serializer("v8", "v8", name),
    ],
  }));
