import { find, seeded, weaveOf } from "./catalogue-data.ts";
import type { Rgb } from "./dyes.ts";
import { UnknownCloth } from "./errors.ts";
import { encodePng } from "./png.ts";

// A thread is three points wide: dark where it dips under its neighbours, light on its back.
const thread = 3;
const across = [0.84, 1.06, 0.92];
const along = [0.94, 1.03, 0.97];
const shades = 9;

/** A piece of the cloth as a PNG, woven thread by thread: `threads` of them each way. */
export async function swatch(sku: string, threads: number = 96): Promise<Uint8Array> {
  const row = find(sku);
  if (row === undefined) throw new UnknownCloth(sku);
  const weave = weaveOf(row);
  const random = seeded(row.seed);
  const count = Math.max(8, Math.min(192, Math.round(threads)));
  const colours = [...new Set([...weave.warp, ...weave.weft, ...weave.flecks])];
  const tone = (): number => 1 + (random() - 0.5) * 0.14 * (0.35 + weave.slub);
  const warpTone = Array.from({ length: count }, tone);
  const weftTone = Array.from({ length: count }, tone);
  const side = count * thread;
  const pixels = new Uint8Array(side * side);
  for (let line = 0; line < count; line++) {
    for (let column = 0; column < count; column++) {
      const over = weave.over(column, line);
      const fleck = weave.flecks.length > 0 && random() < 0.035 ? weave.flecks[Math.floor(random() * weave.flecks.length)] : undefined;
      const own = over ? weave.warp[column % weave.warp.length]! : weave.weft[line % weave.weft.length]!;
      const colour = colours.indexOf(fleck ?? own) * shades;
      const light = (over ? warpTone[column]! : weftTone[line]!) * (1 + (random() - 0.5) * 0.05);
      for (let y = 0; y < thread; y++) {
        for (let x = 0; x < thread; x++) {
          const shade = light * (over ? across[x]! * along[y]! : across[y]! * along[x]!);
          const step = Math.max(0, Math.min(shades - 1, Math.round((shade - 0.68) * 16)));
          pixels[(line * thread + y) * side + column * thread + x] = colour + step;
        }
      }
    }
  }
  return encodePng(side, side, paletteOf(colours), pixels);
}

function paletteOf(colours: readonly Rgb[]): Uint8Array {
  return Uint8Array.from(
    colours.flatMap((colour) =>
      Array.from({ length: shades }, (_, step) => colour.map((part) => Math.min(255, part * (0.68 + step / 16)))).flat(),
    ),
  );
}
