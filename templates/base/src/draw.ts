// Imports the value, not just the type: with the class in the page, results are its instances.
import { Tartan } from "./tartan/tartan.ts";

const undyed = new Tartan("undyed", [{ dye: "chalk", colour: "#ece5d6", threads: 1 }]);

/** Draws a pixel per crossing of two threads; without a tartan, uncoloured cloth. */
export function draw(canvas: HTMLCanvasElement, tartan: Tartan = undyed): void {
  const pen = canvas.getContext("2d");
  if (pen === null) return;
  for (let down = 0; down < canvas.height; down++) {
    for (let across = 0; across < canvas.width; across++) {
      pen.fillStyle = tartan.colourAt(across, down);
      pen.fillRect(across, down, 1, 1);
    }
  }
}
