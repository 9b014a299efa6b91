import type { OrderLine } from "../shop/stock.ts";

const key = "basket";
const listeners = new Set<() => void>();

let lines = read();

/** The user's basket, kept for as long as the tab is open. */
export const basket = {
  lines: (): readonly OrderLine[] => lines,

  add(sku: string, metres: number): void {
    const before = lines.find((line) => line.sku === sku)?.metres ?? 0;
    basket.set(sku, before + metres);
  },

  /** Zero metres removes the cloth. */
  set(sku: string, metres: number): void {
    const at = lines.findIndex((line) => line.sku === sku);
    if (metres === 0) keep(lines.filter((line) => line.sku !== sku));
    else if (at === -1) keep([...lines, { sku, metres }]);
    else keep(lines.with(at, { sku, metres }));
  },

  clear(): void {
    keep([]);
  },

  onChange(listener: () => void): void {
    listeners.add(listener);
  },
};

function keep(next: readonly OrderLine[]): void {
  lines = next;
  sessionStorage.setItem(key, JSON.stringify(next));
  for (const listener of listeners) listener();
}

function read(): readonly OrderLine[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(key) ?? "[]");
    return Array.isArray(kept)
      ? kept.filter(
          (line): line is OrderLine =>
            typeof line?.sku === "string" && Number.isInteger(line.metres),
        )
      : [];
  } catch {
    return []; // the stored text isn't ours: start with an empty basket
  }
}
