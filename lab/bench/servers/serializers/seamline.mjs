// Seamline's own encoding, as a service uses it for what it sends and for what it gets.

import { Item, itemRecord } from "../../lib/values.mjs";

/** @param {string} _name @param {string} bundle */
export async function serializer(_name, bundle) {
  const { Classes, defaultLimits, decodeSerialized, encodeSerialized } = await import(bundle);
  const classes = new Classes();
  classes.register(itemRecord, Item);
  const writing = { classes, stacks: false };
  const reading = { classes, limits: defaultLimits, trusted: false };
  return [(value) => encodeSerialized(value, writing), (text) => decodeSerialized(text, reading)];
}
