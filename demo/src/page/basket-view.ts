import { basketTotals } from "../shop/basket.ts";
import { type Cloth, cloth } from "../shop/catalogue.ts";
import { basket } from "./basket-store.ts";
import { debounced, h } from "./dom.ts";
import { order } from "./order-outcome.ts";
import type { View } from "./router.ts";
import { failure } from "./search-view.ts";
import { swatchOf } from "./swatches.ts";

/** Shows the basket and its total, and orders it. */
export const basketView: View = async (main, _argument, signal) => {
  document.title = "Basket, Selvedge";
  const list = h("ul", { class: "lines", "aria-busy": "true" });
  const sums = h("dl", { class: "sums", "aria-live": "polite" });
  const outcome = h("div", { class: "outcome" });
  const place = h("button", { type: "button", class: "primary" }, "Place the order");
  const foot = h("div", { class: "checkout" }, sums, place);
  const empty = h(
    "p",
    { class: "empty" },
    "Nothing in it yet. ",
    h("a", { href: "#/" }, "Look at the cloths"),
    ".",
  );
  main.append(h("h1", { tabindex: "-1" }, "Your basket"), outcome, list, foot, empty);
  const cloths = new Map<string, Cloth>();

  const total = async (): Promise<void> => {
    const lines = basket
      .lines()
      .flatMap((line) => ({ ...line, unit: cloths.get(line.sku)?.price }));
    foot.hidden = list.hidden = lines.length === 0;
    empty.hidden = lines.length > 0 || outcome.childElementCount > 0;
    if (lines.length === 0) return;
    const totals = await basketTotals(
      lines.flatMap(({ unit, ...line }) => (unit === undefined ? [] : [{ ...line, unit }])),
    );
    if (signal.aborted) return;
    for (const [at, line] of lines.entries()) {
      const sum = list.querySelector(`[data-sku="${CSS.escape(line.sku)}"] .sum`);
      if (sum !== null) sum.textContent = totals.lines[at]?.text() ?? "";
    }
    sums.replaceChildren(
      ...(totals.saved.cents === 0
        ? []
        : [h("div", {}, h("dt", {}, "You save"), h("dd", {}, totals.saved.text()))]),
      h("div", { class: "total" }, h("dt", {}, "Total"), h("dd", {}, totals.total.text())),
    );
  };

  const remove = (sku: string): void => {
    basket.set(sku, 0);
    list.querySelector(`[data-sku="${CSS.escape(sku)}"]`)?.remove();
    (list.querySelector<HTMLElement>("input") ?? main.querySelector<HTMLElement>("h1"))?.focus();
    void total();
  };

  const show = async (): Promise<void> => {
    foot.hidden = list.hidden = empty.hidden = true;
    try {
      for (const loaded of await Promise.all(basket.lines().map((line) => cloth(line.sku))))
        cloths.set(loaded.sku, loaded);
      if (signal.aborted) return;
      list.replaceChildren(
        ...basket.lines().map((line) =>
          row(
            cloths.get(line.sku)!,
            line.metres,
            () => void total(),
            () => remove(line.sku),
          ),
        ),
      );
      list.setAttribute("aria-busy", "false");
      await total();
    } catch (error) {
      if (!signal.aborted)
        outcome.replaceChildren(failure(error, () => (outcome.replaceChildren(), void show())));
    }
  };

  place.addEventListener("click", () => {
    place.disabled = true;
    void order(basket.lines(), outcome, {
      done: basket.clear,
      take(error) {
        basket.set(error.sku, error.left);
        outcome.replaceChildren();
        void show();
      },
    }).finally(() => {
      place.disabled = false;
      void total();
    });
  });
  await show();
};

function row(one: Cloth, metres: number, changed: () => void, remove: () => void): HTMLElement {
  const id = `metres-${one.sku}`;
  const input = h("input", {
    id,
    type: "number",
    min: 1,
    max: 500,
    step: 1,
    value: metres,
    inputmode: "numeric",
  });
  input.addEventListener(
    "input",
    debounced(180, () => {
      if (!input.validity.valid || input.value === "") return;
      basket.set(one.sku, input.valueAsNumber);
      changed();
    }),
  );
  return h(
    "li",
    { "data-sku": one.sku },
    swatchOf(one.sku, 24),
    h(
      "div",
      { class: "what" },
      h("a", { href: `#/cloth/${one.sku}`, class: "name" }, one.name),
      h("span", { class: "colourway" }, `${one.colourway}, ${one.price.text()} / m`),
    ),
    h(
      "div",
      { class: "field" },
      h("label", { for: id }, "Metres", h("span", { class: "unseen" }, ` of ${one.name}`)),
      input,
    ),
    h("span", { class: "sum" }, "\u00a0"),
    h(
      "button",
      { type: "button", class: "plain", onclick: remove },
      "Remove",
      h("span", { class: "unseen" }, ` ${one.name}`),
    ),
  );
}
