import { traceOf } from "seamline";
import { OutOfStock } from "../shop/errors.ts";
import { placeOrder, type Receipt } from "../shop/orders.ts";
import type { OrderLine } from "../shop/stock.ts";
import { dateText, h, messageOf } from "./dom.ts";

/**
 * Orders and shows the outcome in `place`. An `OutOfStock` that crossed two machines still is one
 * here.
 */
export async function order(
  lines: readonly OrderLine[],
  place: HTMLElement,
  act: { readonly done: () => void; readonly take: (error: OutOfStock) => void },
): Promise<void> {
  if (place.getAttribute("aria-busy") === "true") return; // a second click mustn't order again
  place.setAttribute("aria-busy", "true");
  try {
    place.replaceChildren(success(await placeOrder(lines)));
    act.done();
  } catch (error) {
    place.replaceChildren(
      error instanceof OutOfStock ? tooShort(error, () => act.take(error)) : refusal(error),
    );
  } finally {
    place.setAttribute("aria-busy", "false");
  }
  place.scrollIntoView({ block: "nearest" });
}

function success(receipt: Receipt): HTMLElement {
  return h(
    "div",
    { class: "notice good", role: "status" },
    h("h2", {}, `Order ${receipt.number} is placed`),
    h(
      "p",
      {},
      `${receipt.total.text()} on ${dateText(receipt.placed)}. Thank you. `,
      h("a", { href: "#/" }, "See more cloths"),
    ),
  );
}

function tooShort(error: OutOfStock, take: () => void): HTMLElement {
  const fields: readonly (readonly [name: string, ...values: string[]])[] = [
    ["instanceof OutOfStock", "true"],
    ["sku", `"${error.sku}"`],
    ["wanted", `${error.wanted}`],
    ["left", `${error.left}`],
    ["message", `"${error.message}"`],
    ["trace", ...traceOf(error)],
  ];
  return h(
    "div",
    { class: "notice bad", role: "alert" },
    h(
      "h2",
      {},
      error.left === 0 ? "This roll is sold out" : `Only ${error.left} m left on this roll`,
    ),
    h("p", {}, `You asked for ${error.wanted} m of ${error.sku}.`),
    error.left > 0 &&
      h("button", { type: "button", class: "quiet", onclick: take }, `Make it ${error.left} m`),
    h(
      "details",
      {},
      h("summary", {}, "The error as it arrived"),
      h(
        "dl",
        { class: "arrived" },
        ...fields.map(([name, ...values]) =>
          h(
            "div",
            {},
            h("dt", {}, h("code", {}, name)),
            ...values.map((value) => h("dd", {}, h("code", {}, value))),
          ),
        ),
      ),
    ),
  );
}

function refusal(error: unknown): HTMLElement {
  return h(
    "div",
    { class: "notice bad", role: "alert" },
    h("h2", {}, "The order did not go through"),
    h("p", {}, messageOf(error)),
  );
}
