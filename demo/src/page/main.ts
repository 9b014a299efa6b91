import { startClient } from "seamline/client";
import { basket } from "./basket-store.ts";
import { basketView } from "./basket-view.ts";
import { clothView } from "./cloth-view.ts";
import { byId, debounced } from "./dom.ts";
import { showCall, startPlaces } from "./places.ts";
import { startRouter } from "./router.ts";
import { failure, searchView } from "./search-view.ts";

startPlaces();
showBasketCount();
basket.onChange(showBasketCount);
const search = listenToSearch();

try {
  const client = await startClient("ui"); // this page is a node now: the segment `ui` runs in it
  client.observe(showCall);
  startRouter({ "": searchView, cloth: clothView, basket: basketView });
  search.catchUp();
} catch (error) {
  byId("main").replaceChildren(failure(error, () => location.reload()));
}

function showBasketCount(): void {
  byId("basket-count").textContent = String(basket.lines().length);
}

/** `catchUp` searches for what was typed before the page listened. */
function listenToSearch(): { readonly catchUp: () => void } {
  const form = byId("search", HTMLFormElement);
  const query = byId("query", HTMLInputElement);
  const seek = (): void => {
    const text = query.value.trim();
    const address = text === "" ? "#/" : `#//${encodeURIComponent(text)}`;
    if (document.body.dataset["view"] !== "") {
      location.hash = address;
      query.focus();
      return;
    }
    history.replaceState(null, "", address);
    form.dispatchEvent(new CustomEvent("seek", { detail: text }));
  };
  query.addEventListener("input", debounced(160, seek));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    seek();
  });
  return {
    catchUp() {
      if (document.activeElement === query && query.value !== "") seek();
    },
  };
}
