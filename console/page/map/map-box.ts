// Boxes of the map: a member, or a development node that has left, with segments and procedures.

import type { MemberState, ProcedureState } from "../../console-state.ts";
import { nodeNamed, switchNode, verbOf } from "./controls.ts";
import { h } from "../base/dom.ts";
import { labelOf, memberName } from "../base/format.ts";
import { type Model, rateKey } from "../base/model.ts";

/** How much a box shows: the more members, the less. */
export type Detail = "full" | "compact" | "tiles";

const maxFull = 4;
const maxCompact = 12;
/** Procedures of a segment. */
const maxChips = 8;

export function detailFor(boxes: number): Detail {
  return boxes > maxCompact ? "tiles" : boxes > maxFull ? "compact" : "full";
}

export interface BoxActions {
  openProcedure(procedure: ProcedureState): void;
  openMember(member: MemberState): void;
  /** Announces the outcome of an action. */
  report(problem: string): void;
}

export interface Box {
  readonly element: HTMLElement;
  readonly rate: HTMLElement;
}

export class BoxMaker {
  /** Elements of each procedure, by its key. */
  readonly chips: Map<string, HTMLElement[]> = new Map();
  readonly #model: Model;
  readonly #actions: BoxActions;

  constructor(model: Model, actions: BoxActions) {
    this.#model = model;
    this.#actions = actions;
  }

  member(member: MemberState, detail: Detail): Box {
    const rate = h("span", { class: "rate" }, "quiet");
    const name = h(
      "button",
      { type: "button", class: "name", onclick: () => this.#actions.openMember(member) },
      memberName(member),
    );
    // A gateway takes some seconds to notice that a node was killed.
    const killed = nodeNamed(this.#model, member.name)?.state ?? "ready";
    const state = killed === "ready" ? member.state : killed;
    const badge = state === "ready" ? null : h("span", { class: "badge bad" }, state);
    const host =
      detail === "tiles" || member.url === undefined || member.name === undefined
        ? null
        : h("span", { class: "note" }, this.#model.hostOf(member.url));
    const control = detail === "tiles" ? null : this.#control(member.name);
    const head = h("div", { class: "head" }, name, badge, host, rate, control);
    const groups = detail === "tiles" ? [] : this.#memberGroups(member, detail);
    return {
      element: h("li", { class: `box ${state === "ready" ? "" : "out"}` }, head, ...groups),
      rate,
    };
  }

  /** In development, a node that isn't a member: it was killed or is still starting. */
  node(name: string, segments: readonly string[], state: string, detail: Detail): Box {
    const rate = h("span", { class: "rate" });
    const badge = h("span", { class: "badge bad" }, state);
    const title = h("span", { class: "name" }, name);
    const head = h("div", { class: "head" }, title, badge, rate, this.#control(name));
    const groups = detail === "tiles" ? [] : this.segments(segments, detail);
    return { element: h("li", { class: "box out" }, head, ...groups), rate };
  }

  segments(names: readonly string[], detail: Detail): HTMLElement[] {
    return names.map((name) => {
      const procedures = this.#model.procedures.filter(({ segments }) => segments.includes(name));
      return this.#group(name, procedures, detail, name);
    });
  }

  #memberGroups({ segments, procedures = [] }: MemberState, detail: Detail): HTMLElement[] {
    if (segments !== undefined) return this.segments(segments, detail);
    const held = this.#model.procedures.filter(({ fqn }) => procedures.includes(fqn));
    return held.length === 0 ? [] : [this.#group("procedures", held, detail)];
  }

  #group(
    title: string,
    procedures: readonly ProcedureState[],
    detail: Detail,
    segment?: string,
  ): HTMLElement {
    const label = h(
      "span",
      { class: "segment" },
      title,
      h("span", { class: "note" }, ` ${procedures.length}`),
    );
    if (detail === "compact") return h("div", { class: "group", "data-segment": segment }, label);
    const more =
      procedures.length > maxChips
        ? h("a", { class: "more", href: "#procedures" }, `${procedures.length - maxChips} more`)
        : null;
    const chips = procedures.slice(0, maxChips).map((procedure) => this.#chip(procedure));
    return h(
      "div",
      { class: "group", "data-segment": segment },
      label,
      h("div", { class: "chips" }, ...chips, more),
    );
  }

  #chip(procedure: ProcedureState): HTMLElement {
    const { fqn, version, access } = procedure;
    const label = labelOf(procedure);
    const chip = h(
      "button",
      {
        type: "button",
        class: `chip ${access ?? ""}`,
        title: [fqn, label, access].filter(Boolean).join(" "),
        "data-procedure": fqn,
        onclick: () => this.#actions.openProcedure(procedure),
      },
      fqn.slice(fqn.lastIndexOf("/") + 1),
      label === "" ? null : h("small", {}, ` ${label}`),
    );
    const key = rateKey(fqn, version);
    this.chips.set(key, [...(this.chips.get(key) ?? []), chip]);
    return chip;
  }

  #control(name: string | undefined): HTMLElement | null {
    return nodeButton(this.#model, name, this.#actions.report);
  }
}

/** A button that kills or starts a development node; `null` for any other member. */
export function nodeButton(
  model: Model,
  name: string | undefined,
  report: (problem: string) => void,
): HTMLElement | null {
  const node = nodeNamed(model, name);
  if (node === undefined) return null;
  const verb = verbOf(node.state);
  const button = h(
    "button",
    {
      type: "button",
      class: "control",
      "aria-disabled": node.state === "starting" ? "true" : undefined,
      "aria-label": `${verb} node ${node.name}`,
      onclick: () => void act(),
    },
    verb,
  );
  // Not `disabled`, which would drop the focus.
  const act = async (): Promise<void> => {
    if (button.ariaDisabled === "true") return;
    button.ariaDisabled = "true";
    try {
      await switchNode(node);
      report("");
    } catch (error) {
      report((error as Error).message);
      button.ariaDisabled = null;
    }
  };
  return button;
}
