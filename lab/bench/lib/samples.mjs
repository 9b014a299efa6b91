// The arguments that are sent: the same values for each subject.

const colours = ["heather", "slate", "moss", "peat", "rust"];

/** Plain data whose JSON has about this many characters. @param {number} size */
export function stock(size) {
  const items = [];
  for (let length = 12, at = 0; length < size; at++) {
    const item = {
      sku: `tweed-${at}`,
      metres: (at * 37) % 100,
      price: 19.5 + (at % 7),
      colour: colours[at % colours.length],
      inStock: at % 3 !== 0,
      note: at % 4 === 0 ? null : "woven in the hills, washed twice",
    };
    length += JSON.stringify(item).length + 1;
    items.push(item);
  }
  return { items };
}

/** The calls by the name of a case: the procedure and its arguments. @type {Record<string, { procedure: string, args: Record<string, unknown> }>} */
export const calls = {
  add: { procedure: "add", args: { a: 1, b: 2 } },
  "1 KB": { procedure: "echo", args: { value: stock(1_000) } },
  "100 KB": { procedure: "echo", args: { value: stock(100_000) } },
  "checked 1 KB": { procedure: "count", args: { stock: stock(1_000) } },
  "unchecked 1 KB": { procedure: "countUnchecked", args: { stock: stock(1_000) } },
};

/** Whether an answer is one to such a call. @param {string} name @returns {(text: string) => boolean} */
export function rightAnswer(name) {
  if (name === "add") return (text) => text.includes("3");
  const { items } = stock(name === "100 KB" ? 100_000 : 1_000);
  if (name.endsWith("checked 1 KB")) return (text) => text.includes(String(items.length));
  return (text) => text.includes(`"tweed-${items.length - 1}"`);
}
