// The form that moves a procedure to another segment: the keyboard's alternative to dragging.

import type { ProcedureState } from "../../console-state.ts";
import { controlled, moveProcedure, segmentsIn } from "./controls.ts";
import { h, setText } from "../base/dom.ts";
import type { Model } from "../base/model.ts";

/** Not a valid segment name. */
const newSegment = "+";

export function moveForm({ fqn, segments }: ProcedureState, model: Model): HTMLElement | null {
  const development = controlled(model);
  if (development === undefined) return null;
  const status = h("p", { role: "status", class: "status" });
  const options = [...segmentsIn(development)]
    .filter(([name]) => segments.length > 1 || !segments.includes(name))
    .map(([name, where]) => h("option", { value: name }, `${name} (${where})`));
  const select = h(
    "select",
    { id: "move-to", name: "segment" },
    ...options,
    h("option", { value: newSegment }, "a new segment"),
  );
  const name = h("input", {
    type: "text",
    name: "name",
    "aria-label": "Name of the new segment",
    placeholder: "name",
    pattern: "\\w[\\w\\-]*",
    autocomplete: "off",
  });
  const button = h("button", { type: "submit" }, "Move");
  const showName = (): void => {
    name.hidden = select.value !== newSegment;
    name.required = !name.hidden;
  };
  select.addEventListener("change", showName);
  showName();

  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const segment = select.value === newSegment ? name.value : select.value;
    button.disabled = true;
    try {
      await moveProcedure(fqn, segment);
      status.className = "status";
      setText(status, `Moved to ${segment}: the segment files have changed.`);
    } catch (error) {
      status.className = "status bad";
      setText(status, (error as Error).message);
      button.disabled = false;
    }
  };
  return h(
    "form",
    { class: "move-form", onsubmit: (event: SubmitEvent) => void submit(event) },
    h("label", { for: "move-to" }, "Move to"),
    h("div", { class: "line" }, select, name, button),
    status,
  );
}
