// The map: who calls, the service, its members with their segments and procedures. What flows is drawn over it (flow-canvas.ts).

import type { MemberState, ProcedureState } from "../../src/console/state.ts";
import { fill, h, setText } from "./dom.ts";
import { FlowCanvas } from "./flow-canvas.ts";
import { hostOf, memberName, rate, versionText } from "./format.ts";
import { holdersOf, type Model, rateKey } from "./model.ts";

// With more members than these their boxes say less.
const roomy = 4;
const sparse = 12;
/** Procedures of a segment that are shown in a box. */
const shown = 8;
/** A box shows its calls per second anew so often, in ms. */
const rateTime = 1_000;

interface Box {
  readonly element: HTMLElement;
  readonly rate: HTMLElement;
  member: MemberState;
}

export function mapView(
  model: Model,
  openProcedure: (procedure: ProcedureState) => void,
  openMember: (member: MemberState) => void,
): HTMLElement {
  const canvas = new FlowCanvas();
  const browsers = place("Browsers");
  const others = place("Other callers");
  const hub = place("");
  hub.element.classList.add("hub");
  const callers = h("div", { class: "callers" }, browsers.element, others.element);
  const members = h("ul", { class: "members", "aria-label": "Members" });
  const stage = h("div", { class: "stage" }, canvas.element, callers, hub.element, members);
  const boxes = new Map<string, Box>();
  const chips = new Map<string, HTMLElement[]>();
  let drawn = "";

  const layOut = (): void => {
    const dense = model.members.length > sparse;
    members.className = `members ${dense ? "tiles" : model.members.length > roomy ? "compact" : "full"}`;
    stage.classList.toggle("dense", dense);
    stage.classList.toggle("alone", model.service.mode === "standalone");
    canvas.measure({
      stage,
      callers: { browser: browsers.element, outside: others.element },
      hub: model.service.mode === "standalone" ? undefined : hub.element,
      members: new Map([...boxes].map(([id, { element }]) => [id, element])),
      // Lines to a hundred boxes are a web in which nothing is seen.
      lines: !dense,
    });
  };

  const build = (): void => {
    chips.clear();
    const kind =
      model.members.length > sparse ? "tiles" : model.members.length > roomy ? "compact" : "full";
    boxes.clear();
    for (const member of model.members)
      boxes.set(member.id, boxOf(model, member, kind, chips, openProcedure, openMember));
    fill(members, ...[...boxes.values()].map(({ element }) => element));
    layOut();
  };

  const rates = (): void => {
    const alone = model.service.mode === "standalone";
    for (const [id, box] of boxes) {
      const now = alone ? recent(model) : model.memberRate(id);
      setText(box.rate, now === 0 ? "quiet" : `${rate(now)} calls/s`);
      box.element.classList.toggle("busy", now > 0);
    }
  };
  setInterval(rates, rateTime);

  model.onChange((parts) => {
    if (parts.has("members") || parts.has("procedures") || parts.has("service")) {
      const { mode, url } = model.service;
      hub.set(mode === "" ? "" : `${mode.charAt(0).toUpperCase()}${mode.slice(1)}`, hostOf(url));
      // Leases run down every few seconds: that is no other map.
      const now = JSON.stringify([
        mode,
        model.members.map(({ lease: _, checked: __, checks: ___, ...rest }) => rest),
        model.procedures.length,
      ]);
      if (now !== drawn) build();
      drawn = now;
    }
    if (parts.has("figures") && model.figures !== undefined) {
      const { browsers: seen, sites } = model.figures;
      browsers.set(
        "Browsers",
        seen === 0 ? "none lately" : `${seen} from ${sites.slice(0, 2).join(", ")}`,
      );
    }
  });

  model.onFlow(({ flows, calls }) => {
    if (document.hidden) return;
    for (const flow of flows)
      canvas.flow({
        ...flow,
        to: flow.to ?? (model.service.mode === "standalone" ? model.members[0]?.id : undefined),
      });
    for (const { fqn, version } of calls.slice(-40))
      for (const chip of chips.get(rateKey(fqn, version)) ?? []) flash(chip);
    if (flows.some(({ from }) => from === "outside" || from === "console"))
      others.set("Other callers", "programs, curl, this console");
  });
  others.set("Other callers", "none yet");
  new ResizeObserver(layOut).observe(stage);
  return h(
    "section",
    { id: "map", class: "map", "aria-labelledby": "map-title" },
    h("h2", { id: "map-title" }, "Map"),
    h(
      "p",
      { class: "hidden-text" },
      "Who calls this service, and the members that it passes calls on to. The tables below say the same.",
    ),
    stage,
  );
}

function recent({ figures }: Model): number {
  if (figures === undefined) return 0;
  return figures.seconds.slice(-6, -1).reduce((sum, [calls]) => sum + calls, 0) / 5;
}

function place(title: string): { element: HTMLElement; set(title: string, note: string): void } {
  const name = h("strong", {}, title);
  const note = h("span", { class: "note" });
  return {
    element: h("div", { class: "place" }, name, note),
    set(first, second) {
      setText(name, first);
      setText(note, second);
    },
  };
}

function boxOf(
  model: Model,
  member: MemberState,
  kind: "full" | "compact" | "tiles",
  chips: Map<string, HTMLElement[]>,
  openProcedure: (procedure: ProcedureState) => void,
  openMember: (member: MemberState) => void,
): Box {
  const now = h("span", { class: "rate" }, "quiet");
  const name = h(
    "button",
    { type: "button", class: "name", onclick: () => openMember(member) },
    memberName(member),
  );
  const state = member.state === "out" ? h("span", { class: "badge bad" }, "out") : null;
  const held = model.procedures.filter((procedure) => holdersOf(procedure, [member]).length > 0);
  const segments = member.segments ?? (member.procedures === undefined ? [] : [""]);
  const groups =
    kind === "tiles"
      ? []
      : segments.map((segment) => {
          const within = held.filter((one) => segment === "" || one.segments.includes(segment));
          const label = h(
            "span",
            { class: "segment" },
            segment === "" ? "procedures" : segment,
            h("span", { class: "note" }, ` ${within.length}`),
          );
          if (kind === "compact") return label;
          const row = within.slice(0, shown).map((one) => {
            const chip = h(
              "button",
              {
                type: "button",
                class: `chip ${one.access ?? ""}`,
                title: titleOf(one),
                onclick: () => openProcedure(one),
              },
              one.fqn.slice(one.fqn.lastIndexOf("/") + 1),
              versionText(one.version) === ""
                ? null
                : h("small", {}, ` ${versionText(one.version)}`),
            );
            const key = rateKey(one.fqn, one.version);
            chips.set(key, [...(chips.get(key) ?? []), chip]);
            return chip;
          });
          const more =
            within.length > shown
              ? h("a", { class: "more", href: "#procedures" }, `${within.length - shown} more`)
              : null;
          return h("div", { class: "group" }, label, h("div", { class: "chips" }, ...row, more));
        });
  const url =
    kind === "tiles" || member.url === undefined || member.name === undefined
      ? null
      : h("span", { class: "note" }, hostOf(member.url));
  const head = h("div", { class: "head" }, name, state, url, now);
  return { element: h("li", { class: `box ${member.state}` }, head, ...groups), rate: now, member };
}

function titleOf({ fqn, version, access }: ProcedureState): string {
  return [fqn, versionText(version), access]
    .filter((part) => part !== undefined && part !== "")
    .join(" ");
}

const flashing = new WeakMap<Element, Animation>();
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** Lights up, and fades. */
function flash(element: HTMLElement): void {
  if (still.matches) return;
  flashing.get(element)?.cancel();
  flashing.set(
    element,
    element.animate([{ backgroundColor: "var(--flash)" }, {}], {
      duration: 600,
      easing: "ease-out",
    }),
  );
}
