import { type ObservedCall, startClient } from "seamline/client";
import { type Calls, callsOf, costOf, nameOf, withCall } from "./calls.ts";
import { draw } from "./draw.ts";
import { describe } from "./tartan/describe.ts";
import { weave } from "./tartan/weave.ts";

const input = document.querySelector("input")!;
const canvas = document.querySelector("canvas")!;
const caption = document.querySelector("figcaption")!;
let calls: Calls = new Map();

// This page is a node too: it runs what the segment `browser` names.
const client = await startClient("browser");
client.observe((call) => {
  calls = withCall(calls, call);
  for (const where of ["local", "remote"] as const)
    document.querySelector(`#${where}`)!.replaceChildren(...callsOf(calls, where).map(item));
});
document.querySelector("form")!.addEventListener("submit", (event) => {
  event.preventDefault();
  void show();
});
draw(canvas);
await show();

async function show(): Promise<void> {
  try {
    // Two functions, imported and awaited. Where they run is in the segment files.
    const tartan = await weave(input.value);
    draw(canvas, tartan);
    canvas.ariaLabel = `The tartan of ${tartan.name}`;
    caption.textContent = await describe(tartan);
    caption.className = "";
  } catch (error) {
    caption.textContent = (error as Error).message;
    caption.className = "bad";
  }
}

function item(call: ObservedCall): HTMLLIElement {
  const element = document.createElement("li");
  const [name, cost] = [document.createElement("code"), document.createElement("small")];
  name.textContent = nameOf(call);
  cost.textContent = costOf(call);
  element.append(name, cost);
  return element;
}
