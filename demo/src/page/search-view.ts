import { type Cloth, search } from "../shop/catalogue.ts";
import { rank } from "../shop/rank.ts";
import { stockLevels } from "../shop/stock.ts";
import { byId, h, messageOf } from "./dom.ts";
import type { View } from "./router.ts";
import { swatchOf } from "./swatches.ts";

const page = 24;
const ideas = ["tartan", "herringbone", "linen", "gingham indigo", "merino under 60"];

/** Searches while typing. Shows only the last search's answer, in whatever order answers arrive. */
export const searchView: View = (main, text, signal) => {
  document.title = "Selvedge, cloth by the metre";
  const title = h("h1", { tabindex: "-1" });
  const grid = h("ul", { class: "grid", "aria-busy": "true" });
  const foot = h("div", { class: "more" });
  const status = h("p", { class: "count", role: "status" });
  main.append(h("div", { class: "lead" }, title, status), ideaList(), grid, foot);

  let latest = 0;
  const show = async (query: string, offset: number): Promise<void> => {
    const turn = ++latest;
    const stale = (): boolean => turn !== latest || signal.aborted;
    title.textContent = query === "" ? "New on the shelf" : `“${query}”`;
    grid.setAttribute("aria-busy", "true");
    if (offset === 0 && grid.childElementCount === 0)
      grid.append(...Array.from({ length: 12 }, skeleton));
    try {
      const found = await search({ text: query, offset, limit: page });
      if (stale()) return;
      const cloths = await rank(query, found.hits);
      if (stale()) return;
      const cards = cloths.map(card);
      if (offset === 0) grid.replaceChildren(...cards);
      else grid.append(...cards);
      status.textContent =
        found.total === 1 ? "1 cloth" : `${found.total.toLocaleString("en-GB")} cloths`;
      const shown = offset + cloths.length;
      foot.replaceChildren(
        found.total === 0
          ? nothing()
          : shown < found.total
            ? moreButton(() => void show(query, shown))
            : "",
      );
      if (offset > 0) cards[0]?.querySelector("a")?.focus();
      grid.setAttribute("aria-busy", "false");
      if (cloths.length > 0) await showStock(grid, cloths, stale);
    } catch (error) {
      if (stale()) return;
      grid.replaceChildren();
      grid.setAttribute("aria-busy", "false");
      status.textContent = "";
      foot.replaceChildren(failure(error, () => void show(query, 0)));
    }
  };

  byId("search").addEventListener(
    "seek",
    (event) => void show((event as CustomEvent<string>).detail, 0),
    { signal },
  );
  // Don't overwrite what the user is typing: the next letter starts the next search.
  const query = byId("query", HTMLInputElement);
  if (document.activeElement !== query) query.value = text;
  void show(text, 0);
};

async function showStock(
  grid: HTMLElement,
  cloths: readonly Cloth[],
  stale: () => boolean,
): Promise<void> {
  let levels: ReadonlyMap<string, number>;
  try {
    levels = await stockLevels(...cloths.map((cloth) => cloth.sku));
  } catch {
    // The shelf is useful without the warehouse; the strip beside it shows the error.
    levels = new Map(cloths.map((cloth) => [cloth.sku, Number.NaN]));
  }
  if (stale()) return;
  for (const [sku, left] of levels) {
    const place = grid.querySelector(`[data-sku="${CSS.escape(sku)}"] .stock`);
    if (place === null) continue;
    place.textContent = Number.isNaN(left)
      ? "Stock unknown"
      : left === 0
        ? "Sold out"
        : `${left} m left`;
    place.classList.toggle("short", left < 6);
  }
}

function card(cloth: Cloth): HTMLElement {
  return h(
    "li",
    { class: "card", "data-sku": cloth.sku },
    swatchOf(cloth.sku, 96),
    h("a", { href: `#/cloth/${cloth.sku}`, class: "name" }, cloth.name),
    h("span", { class: "colourway" }, cloth.colourway),
    h(
      "span",
      { class: "figures" },
      h("span", { class: "price" }, cloth.price.text(), h("small", {}, " / m")),
      h("span", { class: "stock" }, "\u00a0"),
    ),
  );
}

function skeleton(): HTMLElement {
  return h(
    "li",
    { class: "card waiting", "aria-hidden": "true" },
    h("span", { class: "swatch" }),
    h("i"),
    h("i"),
    h("i"),
  );
}

function ideaList(): HTMLElement {
  const links = ideas.map((idea) =>
    h("li", {}, h("a", { href: `#//${encodeURIComponent(idea)}` }, idea)),
  );
  return h("ul", { class: "ideas", "aria-label": "Searches to try" }, ...links);
}

function moreButton(act: () => void): HTMLElement {
  return h("button", { type: "button", class: "quiet", onclick: act }, "Show more");
}

function nothing(): HTMLElement {
  return h(
    "p",
    { class: "empty" },
    "No cloth goes by these words. Try a weave, a colour, a fibre, or a price: ",
    h("q", {}, "navy under 30"),
    ".",
  );
}

/** Shows an error with a button to try again. */
export function failure(error: unknown, again: () => void): HTMLElement {
  return h(
    "div",
    { class: "notice bad", role: "alert" },
    h("p", {}, h("strong", {}, "That did not work. "), messageOf(error)),
    h("button", { type: "button", class: "quiet", onclick: again }, "Try again"),
  );
}
