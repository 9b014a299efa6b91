import { swatch } from "../shop/swatch.ts";
import { h } from "./dom.ts";

const pictures = new Map<string, Promise<string>>();
const most = 300;
const pointsPerThread = 3;

/** The URL of a swatch's picture, requested once and then cached. */
function pictureOf(sku: string, threads: number): Promise<string> {
  const key = `${sku} ${threads}`;
  let picture = pictures.get(key);
  if (picture === undefined) {
    picture = inTurn(() => swatch(sku, threads)).then((png) =>
      URL.createObjectURL(new Blob([png as Uint8Array<ArrayBuffer>], { type: "image/png" })),
    );
    pictures.set(key, picture);
    picture.catch(() => pictures.delete(key));
    if (pictures.size > most) forgetOldest();
  }
  return picture;
}

// Browsers open six connections per origin: a shelf of pictures leaves some of them for searches.
const atOnce = 4;
const queue: (() => void)[] = [];
let running = 0;

async function inTurn<T>(act: () => Promise<T>): Promise<T> {
  if (running === atOnce) await new Promise<void>((resolve) => queue.push(resolve));
  else running++;
  try {
    return await act();
  } finally {
    // Hand the slot over to the next in line.
    const next = queue.shift();
    if (next === undefined) running--;
    else next();
  }
}

function forgetOldest(): void {
  for (const [key, picture] of pictures) {
    pictures.delete(key);
    void picture
      .then((url) => setTimeout(() => URL.revokeObjectURL(url), 10_000))
      .catch(() => undefined);
    return;
  }
}

const loaders = new WeakMap<Element, () => void>();
const watcher = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      watcher.unobserve(entry.target);
      loaders.get(entry.target)?.();
    }
  },
  { rootMargin: "300px" },
);

/** A swatch with pinked edges, woven once it comes near the viewport. */
export function swatchOf(sku: string, threads: number, alt = ""): HTMLElement {
  const image = h("img", {
    alt,
    width: threads * pointsPerThread,
    height: threads * pointsPerThread,
    decoding: "async",
  });
  const frame = h("span", { class: "swatch" }, h("span", { class: "pinked" }, image));
  loaders.set(frame, () => {
    pictureOf(sku, threads).then(
      (url) => {
        image.src = url;
        image.addEventListener("load", () => frame.classList.add("woven"), { once: true });
      },
      () => frame.classList.add("missing"),
    );
  });
  watcher.observe(frame);
  return frame;
}
