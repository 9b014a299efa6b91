import { BadRequest } from "seamline";
import { type Cloth, cloth } from "../shop/catalogue.ts";
import { UnknownCloth } from "../shop/errors.ts";
import { deliveryDay } from "../shop/delivery.ts";
import { type Quote, quote } from "../shop/quote.ts";
import { basket } from "./basket-store.ts";
import { byId, dateText, dayText, debounced, h, messageOf } from "./dom.ts";
import { order } from "./order-outcome.ts";
import type { View } from "./router.ts";
import { failure } from "./search-view.ts";
import { swatchOf } from "./swatches.ts";

/** Shows a cloth and the price of a length, and orders it. */
export const clothView: View = async (main, sku, signal) => {
  document.title = `${sku}, Selvedge`;
  const title = h("h1", { tabindex: "-1" }, sku);
  // The title has the focus, so it isn't replaced.
  const rest = h("div", { class: "waiting" }, h("i"), h("i"), h("i"));
  const about = h("div", { class: "about", "aria-busy": "true" }, title, rest);
  const article = h("article", { class: "cloth" }, swatchOf(sku, 180), about);
  main.append(h("p", { class: "back" }, backLink()), article);
  try {
    const found = await cloth(sku);
    if (signal.aborted) return;
    document.title = `${found.name}, Selvedge`;
    title.textContent = found.name;
    rest.replaceWith(...headline(found), ...buying(found, signal), facts(found));
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof UnknownCloth) {
      title.textContent = "No such cloth";
      article.querySelector(".swatch")?.remove();
      rest.replaceWith(h("p", {}, `Nothing here goes by the number ${error.sku}.`));
    } else rest.replaceWith(failure(error, () => dispatchEvent(new HashChangeEvent("hashchange"))));
  }
  about.setAttribute("aria-busy", "false");
};

function backLink(): HTMLElement {
  const query = byId("query", HTMLInputElement).value.trim();
  return query === ""
    ? h("a", { href: "#/" }, "All cloths")
    : h("a", { href: `#//${encodeURIComponent(query)}` }, `Back to “${query}”`);
}

function headline(found: Cloth): readonly HTMLElement[] {
  return [
    h("p", { class: "colourway" }, found.colourway),
    h("p", { class: "price" }, found.price.text(), h("small", {}, " a metre")),
  ];
}

function facts(found: Cloth): HTMLElement {
  const all = [
    ...found.attributes,
    ["Here since", `${dateText(found.arrived)} (${found.season()})`],
    ["Number", found.sku],
  ] as const;
  return h(
    "dl",
    { class: "facts" },
    ...all.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );
}

function buying(found: Cloth, signal: AbortSignal): readonly HTMLElement[] {
  const metres = h("input", {
    id: "metres",
    type: "number",
    min: 1,
    max: 500,
    step: 1,
    value: 3,
    inputmode: "numeric",
    "aria-describedby": "quote",
  });
  const price = h(
    "div",
    { id: "quote", class: "quote", "aria-live": "polite", "aria-busy": "true" },
    h("p", {}, "…"),
  );
  const outcome = h("div", { class: "outcome" });
  let latest = 0;
  const ask = async (): Promise<void> => {
    const turn = ++latest;
    price.setAttribute("aria-busy", "true");
    let shown: readonly (HTMLElement | string)[];
    try {
      const [offer, delivery] = await Promise.all([
        quote(found.sku, metres.valueAsNumber),
        deliveryDay(new Date(), metres.valueAsNumber),
      ]);
      shown = quoted(offer, delivery);
      metres.removeAttribute("aria-invalid");
    } catch (error) {
      shown = [h("p", { class: "wrong" }, messageOf(error))];
      if (error instanceof BadRequest) metres.setAttribute("aria-invalid", "true");
    }
    if (turn !== latest || signal.aborted) return;
    price.replaceChildren(...shown);
    price.setAttribute("aria-busy", "false");
  };
  const add = (): void => {
    basket.add(found.sku, metres.valueAsNumber);
    outcome.replaceChildren(
      h(
        "div",
        { class: "notice", role: "status" },
        h(
          "p",
          {},
          `${metres.value} m are in your basket. `,
          h("a", { href: "#/basket" }, "See the basket"),
        ),
      ),
    );
  };
  const buy = (): void =>
    void order([{ sku: found.sku, metres: metres.valueAsNumber }], outcome, {
      done: () => void ask(),
      take(error) {
        metres.value = String(error.left);
        outcome.replaceChildren();
        metres.focus();
        void ask();
      },
    });
  metres.addEventListener(
    "input",
    debounced(180, () => void ask()),
  );
  void ask();
  const submit = (event: Event): void => {
    event.preventDefault();
    if (metres.reportValidity())
      ((event as SubmitEvent).submitter?.getAttribute("value") === "order" ? buy : add)();
  };
  return [
    h(
      "form",
      { class: "buy", novalidate: false, onsubmit: submit },
      h("div", { class: "field" }, h("label", { for: "metres" }, "Metres"), metres),
      price,
      h(
        "div",
        { class: "actions" },
        h("button", { class: "primary" }, "Add to basket"),
        h("button", { class: "quiet", value: "order" }, "Order now"),
      ),
    ),
    outcome,
  ];
}

function quoted(one: Quote, delivery: Date): readonly HTMLElement[] {
  const short = one.left < one.metres;
  const roll =
    one.left === 0
      ? "The roll is sold out"
      : short
        ? `The roll has only ${one.left} m left`
        : `${one.left} m on the roll`;
  const off = one.discount() === 0 ? "" : `, ${one.discount()} % off`;
  return [
    h("p", { class: "sum" }, `${one.total().text()} `, h("small", {}, `for ${one.metres} m${off}`)),
    h("p", { class: short ? "roll wrong" : "roll" }, roll),
    h("p", { class: "roll" }, `With you on ${dayText(delivery)}`),
  ];
}
