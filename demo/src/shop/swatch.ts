import { find, seeded, weaveOf } from "./catalogue-data.ts";
import type { Rgb } from "./dyes.ts";
import { UnknownCloth } from "./errors.ts";
import { encodePng } from "./png.ts";

// A thread is three pixels wide: dark where it dips under its neighbours, light in the middle.
const thread = 3;
const across = [0.84, 1.06, 0.92];
const along = [0.94, 1.03, 0.97];
const shades = 9;
const [darkest, step] = [0.68, 1 / 16];

// Threads vary slightly in brightness: this many shades between the dullest and the brightest.
const lights = 12;
const lightOf = (index: number, slub: number): number =>
  1 + ((index + 0.5) / lights - 0.5) * 0.2 * (0.35 + slub);

/** Draws a piece of the cloth as a PNG, with `threads` threads in each direction. */
export async function swatch(sku: string, threads: number = 96): Promise<Uint8Array> {
  const row = find(sku);
  if (row === undefined) throw new UnknownCloth(sku);
  const weave = weaveOf(row);
  const random = seeded(row.seed);
  const count = Math.max(8, Math.min(192, Math.round(threads)));
  const colours = [...new Set([...weave.warp, ...weave.weft, ...weave.flecks])];
  const yarn = (colour: readonly Rgb[]): Uint8Array =>
    Uint8Array.from({ length: count }, (_, at) => colours.indexOf(colour[at % colour.length]!));
  const light = (): Uint8Array => Uint8Array.from({ length: count }, () => random() * lights);
  const [warp, weft, warpLight, weftLight] = [yarn(weave.warp), yarn(weave.weft), light(), light()];
  const [warpOver, weftOver] = [
    shadesOf(weave.slub, along, across),
    shadesOf(weave.slub, across, along),
  ];
  const side = count * thread;
  const pixels = new Uint8Array(side * side);
  for (let line = 0; line < count; line++) {
    for (let column = 0; column < count; column++) {
      const over = weave.over(column, line);
      const fleck =
        weave.flecks.length > 0 && random() < 0.035
          ? weave.flecks[Math.floor(random() * weave.flecks.length)]
          : undefined;
      const colour =
        (fleck === undefined ? (over ? warp[column]! : weft[line]!) : colours.indexOf(fleck)) *
        shades;
      const points = over ? warpOver[warpLight[column]!]! : weftOver[weftLight[line]!]!;
      for (let y = 0, from = 0; y < thread; y++) {
        const to = (line * thread + y) * side + column * thread;
        for (let x = 0; x < thread; x++) pixels[to + x] = colour + points[from++]!;
      }
    }
  }
  return encodePng(side, side, paletteOf(colours), pixels);
}

/** For each brightness of a thread, the shades of its pixels where it lies on top, row by row. */
function shadesOf(
  slub: number,
  horizontal: readonly number[],
  vertical: readonly number[],
): readonly Uint8Array[] {
  const shade = (value: number): number =>
    Math.max(0, Math.min(shades - 1, Math.round((value - darkest) / step)));
  return Array.from({ length: lights }, (_, index) =>
    Uint8Array.from(
      horizontal.flatMap((one) =>
        vertical.map((other) => shade(lightOf(index, slub) * one * other)),
      ),
    ),
  );
}

function paletteOf(colours: readonly Rgb[]): Uint8Array {
  return Uint8Array.from(
    colours.flatMap((colour) =>
      Array.from({ length: shades }, (_, index) =>
        colour.map((part) => Math.min(255, part * (darkest + index * step))),
      ).flat(),
    ),
  );
}
