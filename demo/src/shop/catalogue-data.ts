import { Cloth } from "./cloth.ts";
import type { Rgb } from "./dyes.ts";
import { Money } from "./money.ts";
import { type Design, designs, type Pick, type Weave } from "./weave.ts";

const size = 5000;
const places =
  "Arran Ashby Barra Beckford Calder Carrick Cawdor Corrie Dalby Deeside Dunmore Elgin Ettrick Fairlie Fenwick Galway Glenarm Harris Hawick Helmsley Islay Keswick Kilbride Kirkby Lanark Langdale Lerwick Lomond Malton Marlow Melrose Moffat Nairn Oban Orkney Peebles Rannoch Ripley Roxburgh Rothbury Selkirk Skipton Sligo Staveley Teviot Thirsk Tiree Ullswater Wharram Yarrow".split(
    " ",
  );

interface Row {
  readonly cloth: Cloth;
  readonly design: Design;
  readonly colours: readonly Rgb[];
  readonly seed: number;
  /** The text that searches look through, in lower case. */
  readonly text: string;
}

/**
 * mulberry32, which gives the same numbers on every machine: the catalogue is generated, not
 * stored.
 */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const picker =
  (random: () => number): Pick =>
  (from) =>
    from[Math.floor(random() * from.length)]!;

function grow(index: number): Row {
  const seed = index * 7919 + 251;
  const random = seeded(seed);
  const pick = picker(random);
  const between = ([least, most]: readonly [number, number]): number =>
    least + random() * (most - least);
  const design = pick(designs);
  const dyes = design.dyes(pick);
  const [first, ...others] = [...new Set(dyes.map((dye) => dye.name))];
  const colourway = [first!.charAt(0).toUpperCase() + first!.slice(1), ...others]
    .join(", ")
    .replace(/, ([^,]*)$/, " and $1");
  const mill = pick(places);
  const fibre = pick(design.fibres);
  const attributes = new Map([
    ["Fibre", fibre],
    ["Weave", design.structure],
    ["Weight", `${Math.round(between(design.weight) / 5) * 5} g/m²`],
    ["Width", `${pick([140, 145, 150, 155])} cm`],
    ["Mill", `${pick(places)} Mill`],
    ["Care", fibre.includes("ool") ? "Dry clean" : "Wash at 30 °C"],
  ]);
  const sku = `${design.code}-${String(index + 1).padStart(4, "0")}`;
  const arrived = new Date(Date.UTC(2023, 0, 9) + Math.floor(random() * 1000) * 86_400_000);
  const price = new Money(Math.round(between(design.price) / 50) * 50, "EUR");
  const cloth = new Cloth(sku, `${mill} ${design.name}`, colourway, price, arrived, attributes);
  const text = [sku, cloth.name, colourway, ...attributes.values()]
    .join(" ")
    .toLowerCase()
    .replaceAll("’", "'");
  return { cloth, design, colours: dyes.map((dye) => dye.rgb), seed, text };
}

/** All cloths, newest first. Generated when the module is first loaded, in about 20 ms. */
export const rows: readonly Row[] = Array.from({ length: size }, (_, index) => grow(index)).sort(
  (one, other) =>
    other.cloth.arrived.getTime() - one.cloth.arrived.getTime() || one.seed - other.seed,
);

const bySku: ReadonlyMap<string, Row> = new Map(rows.map((row) => [row.cloth.sku, row]));

export function find(sku: string): Row | undefined {
  return bySku.get(sku);
}

export function weaveOf(row: Row): Weave {
  return row.design.weave(row.colours, picker(seeded(row.seed ^ 0x5eed)));
}
