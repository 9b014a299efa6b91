// Light, dark, or as the system says; what somebody chose is kept by his browser.

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
      // A browser that keeps nothing: it is chosen again next time.
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
