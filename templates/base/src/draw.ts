import type { Tartan } from "./tartan/tartan.ts";

/** A pixel for each crossing of two threads. */
export function draw(canvas: HTMLCanvasElement, tartan: Tartan): void {
  const pen = canvas.getContext("2d");
  if (pen === null) return;
  for (let down = 0; down < canvas.height; down++) {
    for (let across = 0; across < canvas.width; across++) {
      pen.fillStyle = tartan.colourAt(across, down);
      pen.fillRect(across, down, 1, 1);
    }
  }
}
