// A modal dialog. The browser traps the focus and restores it.

import { h } from "./dom.ts";

export function openDialog(title: string, content: Node): HTMLDialogElement {
  const close = h(
    "button",
    { type: "button", class: "close", "aria-label": "Close", onclick: () => dialog.close() },
    "×",
  );
  const dialog: HTMLDialogElement = h(
    "dialog",
    { "aria-labelledby": "dialog-title" },
    h("div", { class: "dialog-head" }, h("h2", { id: "dialog-title" }, title), close),
    h("div", { class: "dialog-body" }, content),
  );
  dialog.addEventListener("close", () => dialog.remove());
  // The content fills the dialog, so a click on the dialog itself is one on the backdrop.
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
