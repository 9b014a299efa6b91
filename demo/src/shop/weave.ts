import { brights, darks, type Dye, lights, type Rgb } from "./dyes.ts";

/** A weave: the order of threads, and where the warp passes over the weft. */
export interface Weave {
  readonly warp: readonly Rgb[];
  readonly weft: readonly Rgb[];
  /** Whether the warp thread lies on top at this crossing. */
  over(column: number, row: number): boolean;
  /** 0 for even yarn, 1 for linen with slubs. */
  readonly slub: number;
  readonly flecks: readonly Rgb[];
}

export interface Design {
  readonly name: string;
  readonly code: string;
  readonly structure: string;
  readonly fibres: readonly string[];
  /** Grams a square metre, least and most. */
  readonly weight: readonly [number, number];
  /** Cents a metre, least and most. */
  readonly price: readonly [number, number];
  /** The dyes of one colourway, the leading one first. */
  dyes(pick: Pick): readonly Dye[];
  weave(dyes: readonly Rgb[], pick: Pick): Weave;
}

/** Picks from a list, always the same for the same cloth. */
export type Pick = <T>(from: readonly T[]) => T;

type Stripe = readonly [colour: Rgb, threads: number];

const wool = ["New wool", "Merino wool", "Lambswool", "Wool and cashmere"];
const cotton = ["Cotton", "Organic cotton", "Cotton and linen"];
const linen = ["Linen", "Washed linen", "Linen and hemp"];

const plain = (column: number, row: number): boolean => (column + row) % 2 === 0;
const twill = (column: number, row: number): boolean => (column + row) % 4 < 2;
const steep = (column: number, row: number): boolean => (column + row) % 4 !== 0;
const basket = (column: number, row: number): boolean => ((column >> 1) + (row >> 1)) % 2 === 0;
const herringbone = (column: number, row: number): boolean => {
  const step = column % 16;
  return ((step < 8 ? step : 15 - step) + row) % 4 < 2;
};
const birdseye = (column: number, row: number): boolean =>
  (column % 4 === 1 && row % 4 === 1) || (column % 4 === 3 && row % 4 === 3);

const threads = (...stripes: readonly Stripe[]): readonly Rgb[] =>
  stripes.flatMap(([colour, count]) => Array.from({ length: count }, () => colour));
const repeat = (times: number, sett: readonly Rgb[]): readonly Rgb[] =>
  Array.from({ length: times }, () => sett).flat();

const check = (sett: readonly Rgb[], over: Weave["over"]): Weave => ({
  warp: sett,
  weft: sett,
  over,
  slub: 0.25,
  flecks: [],
});
const two = (warp: Rgb, weft: Rgb, over: Weave["over"], slub = 0.25): Weave => ({
  warp: [warp],
  weft: [weft],
  over,
  slub,
  flecks: [],
});

const pale = (pick: Pick): Dye => pick(lights);
const deep = (pick: Pick): Dye => pick(darks);
const vivid = (pick: Pick): Dye => pick(brights);
const strong = (pick: Pick): Dye => pick([...darks, ...brights]);

/** The designs, as a loom would make them: a row of colours and a rule for the crossings. */
export const designs: readonly Design[] = [
  {
    name: "Tartan",
    code: "TA",
    structure: "2/2 twill",
    fibres: wool,
    weight: [280, 420],
    price: [3400, 7800],
    dyes: (pick) => [deep(pick), vivid(pick), pale(pick)],
    weave([ground, band, line], pick) {
      const wide = pick([10, 12, 14]);
      const half = threads(
        [ground!, wide],
        [band!, pick([6, 8])],
        [line!, 2],
        [band!, 2],
        [ground!, pick([4, 6])],
        [line!, 2],
      );
      return check([...half, ...half.toReversed()], twill);
    },
  },
  {
    name: "Herringbone",
    code: "HB",
    structure: "Broken 2/2 twill",
    fibres: wool,
    weight: [290, 460],
    price: [3600, 8200],
    dyes: (pick) => [strong(pick), pale(pick)],
    weave: ([warp, weft]) => two(warp!, weft!, herringbone),
  },
  {
    name: "Houndstooth",
    code: "HT",
    structure: "2/2 twill",
    fibres: wool,
    weight: [260, 400],
    price: [3200, 6900],
    dyes: (pick) => [deep(pick), pale(pick)],
    weave: ([dark, light]) => check(threads([dark!, 4], [light!, 4]), twill),
  },
  {
    name: "Gingham",
    code: "GH",
    structure: "Plain weave",
    fibres: cotton,
    weight: [110, 160],
    price: [1200, 2400],
    dyes: (pick) => [strong(pick), lights[0]!],
    weave([colour, white], pick) {
      const size = pick([6, 8, 10]);
      return check(threads([colour!, size], [white!, size]), plain);
    },
  },
  {
    name: "Windowpane",
    code: "WP",
    structure: "2/2 twill",
    fibres: wool,
    weight: [240, 340],
    price: [3800, 8600],
    dyes: (pick) => [deep(pick), pick([...lights, ...brights])],
    weave([ground, line], pick) {
      return check(threads([ground!, pick([22, 26])], [line!, 2]), twill);
    },
  },
  {
    name: "Tattersall",
    code: "TS",
    structure: "Plain weave",
    fibres: cotton,
    weight: [120, 180],
    price: [1500, 2900],
    dyes: (pick) => [pale(pick), deep(pick), vivid(pick)],
    weave: ([ground, one, other]) =>
      check(threads([ground!, 9], [one!, 2], [ground!, 9], [other!, 2]), plain),
  },
  {
    name: "Glen Check",
    code: "GC",
    structure: "2/2 twill",
    fibres: wool,
    weight: [250, 360],
    price: [4200, 9400],
    dyes: (pick) => [deep(pick), pale(pick)],
    weave: ([dark, light]) =>
      check(
        [
          ...repeat(4, threads([dark!, 4], [light!, 4])),
          ...repeat(6, threads([dark!, 2], [light!, 2])),
        ],
        twill,
      ),
  },
  {
    name: "Pinstripe",
    code: "PS",
    structure: "2/2 twill",
    fibres: wool,
    weight: [230, 300],
    price: [4400, 9800],
    dyes: (pick) => [deep(pick), pale(pick)],
    weave: ([ground, line], pick) => ({
      ...two(ground!, ground!, twill),
      warp: threads([ground!, pick([11, 15])], [line!, 1]),
    }),
  },
  {
    name: "Ticking",
    code: "TK",
    structure: "3/1 twill",
    fibres: cotton,
    weight: [210, 280],
    price: [1400, 2600],
    dyes: (pick) => [strong(pick), lights[1]!],
    weave: ([stripe, ground]) => ({
      ...two(ground!, ground!, steep),
      warp: threads(
        [ground!, 9],
        [stripe!, 2],
        [ground!, 2],
        [stripe!, 5],
        [ground!, 2],
        [stripe!, 2],
      ),
    }),
  },
  {
    name: "Oxford",
    code: "OX",
    structure: "Basket weave",
    fibres: cotton,
    weight: [130, 190],
    price: [1300, 2700],
    dyes: (pick) => [strong(pick), lights[0]!],
    weave: ([warp, weft]) => two(warp!, weft!, basket),
  },
  {
    name: "Chambray",
    code: "CH",
    structure: "Plain weave",
    fibres: linen,
    weight: [140, 220],
    price: [1700, 3300],
    dyes: (pick) => [strong(pick), pale(pick)],
    weave: ([warp, weft]) => two(warp!, weft!, plain, 1),
  },
  {
    name: "Denim",
    code: "DN",
    structure: "3/1 twill",
    fibres: cotton,
    weight: [320, 480],
    price: [1900, 3600],
    dyes: (pick) => [deep(pick), lights[1]!],
    weave: ([warp, weft]) => two(warp!, weft!, steep, 0.7),
  },
  {
    name: "Donegal",
    code: "DG",
    structure: "Plain weave",
    fibres: wool,
    weight: [340, 480],
    price: [4100, 8800],
    dyes: (pick) => [strong(pick), pale(pick), vivid(pick)],
    weave: ([warp, weft, fleck]) => ({
      ...two(warp!, weft!, plain, 0.8),
      flecks: [fleck!, [241, 236, 224], [217, 160, 50]],
    }),
  },
  {
    name: "Bird’s-eye",
    code: "BE",
    structure: "Bird’s-eye weave",
    fibres: wool,
    weight: [240, 320],
    price: [4600, 9600],
    dyes: (pick) => [deep(pick), pick([...lights, ...brights])],
    weave: ([ground, dot]) => two(dot!, ground!, birdseye),
  },
];
