import { parse, stringify } from "devalue";
import { Item } from "../../lib/values.mjs";

const reducers = {
  Item: (value) => value instanceof Item && [value.sku, value.metres, value.price],
};
const revivers = { Item: ([sku, metres, price]) => new Item(sku, metres, price) };

export const serializer = (name) =>
  name === "instances"
    ? [(value) => stringify(value, reducers), (text) => parse(text, revivers)]
    : [(value) => stringify(value), (text) => parse(text)];
