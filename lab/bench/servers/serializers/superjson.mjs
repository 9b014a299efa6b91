import { SuperJSON } from "superjson";
import { Item } from "../../lib/values.mjs";

export function serializer(name) {
  if (name === "bytes") {
    // It has no form for bytes; this is how its documentation adds one.
    const form = {
      isApplicable: (value) => value instanceof Uint8Array,
      serialize: (value) => Buffer.from(value).toString("base64"),
      deserialize: (text) => new Uint8Array(Buffer.from(text, "base64")),
    };
    SuperJSON.registerCustom(form, "bytes");
  }
  SuperJSON.registerClass(Item);
  return [(value) => SuperJSON.stringify(value), (text) => SuperJSON.parse(text)];
}
