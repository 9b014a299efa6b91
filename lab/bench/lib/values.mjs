// The values that serializers are compared with: five kinds, and their forms written by hand.

import { stock } from "./samples.mjs";

/** A class whose instances travel. */
export class Item {
  /** @param {string} sku @param {number} metres @param {number} price */
  constructor(sku, metres, price) {
    this.sku = sku;
    this.metres = metres;
    this.price = price;
  }
  total() {
    return this.metres * this.price;
  }
}

/** The build's record of it. */
export const itemRecord = {
  key: "Item",
  module: "item",
  export: "Item",
  args: ["sku", "metres", "price"],
  fields: [],
};

const times = (count, make) => Array.from({ length: count }, (_, at) => make(at));

/** The values, by the name of a case. @type {Record<string, () => any>} */
export const values = {
  plain: () => stock(4_000),
  dates: () => ({
    orders: times(50, (at) => ({ sku: `tweed-${at}`, at: new Date(1.7e12 + at * 86_400_123) })),
  }),
  "maps and sets": () => ({
    prices: new Map(times(50, (at) => [`tweed-${at}`, at * 1.5])),
    colours: new Set(times(50, (at) => `colour-${at}`)),
  }),
  instances: () => ({ items: times(50, (at) => new Item(`tweed-${at}`, at, at * 1.5)) }),
  bytes: () => ({ image: new Uint8Array(times(100_000, (at) => (at * 7) % 256)) }),
};

/** Code as written by hand for this shape, with `JSON` for the rest. */
export const byHand = {
  plain: [(value) => JSON.stringify(value), (text) => JSON.parse(text)],
  dates: [
    (value) => JSON.stringify(value),
    (text) => {
      const value = JSON.parse(text);
      for (const order of value.orders) order.at = new Date(order.at);
      return value;
    },
  ],
  "maps and sets": [
    ({ prices, colours }) => JSON.stringify({ prices: [...prices], colours: [...colours] }),
    (text) => {
      const { prices, colours } = JSON.parse(text);
      return { prices: new Map(prices), colours: new Set(colours) };
    },
  ],
  instances: [
    (value) => JSON.stringify(value),
    (text) => ({
      items: JSON.parse(text).items.map(({ sku, metres, price }) => new Item(sku, metres, price)),
    }),
  ],
  bytes: [
    ({ image }) =>
      JSON.stringify({
        image: Buffer.from(image.buffer, image.byteOffset, image.length).toString("base64"),
      }),
    (text) => ({ image: new Uint8Array(Buffer.from(JSON.parse(text).image, "base64")) }),
  ],
};
