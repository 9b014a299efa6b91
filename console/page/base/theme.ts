// Light, dark or the system's theme. The browser remembers the choice.

import { h, setText } from "./dom.ts";

const key = "seamline-console-theme";
const themes = ["auto", "light", "dark"] as const;

export function themeButton(): HTMLElement {
  let chosen = stored();
  const button = h("button", { type: "button" });
  const show = (): void => {
    if (chosen === "auto") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = chosen;
    setText(button, `Theme: ${chosen}`);
    dispatchEvent(new Event("themechange"));
  };
  button.addEventListener("click", () => {
    chosen = themes[(themes.indexOf(chosen) + 1) % themes.length]!;
    try {
      localStorage.setItem(key, chosen);
    } catch {
      // Storage is blocked, so the choice lasts until the page is closed.
    }
    show();
  });
  show();
  return button;
}

function stored(): (typeof themes)[number] {
  try {
    return themes.find((theme) => theme === localStorage.getItem(key)) ?? "auto";
  } catch {
    return "auto";
  }
}
