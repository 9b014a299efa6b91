// By value and not as a type: with it the page has the class, and instances that arrive are instances here.
import { Tartan } from "./tartan/tartan.ts";

const undyed = new Tartan("undyed", [{ dye: "chalk", colour: "#ece5d6", threads: 1 }]);

/** A pixel for each crossing of two threads; cloth without colours where there is no tartan yet. */
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
