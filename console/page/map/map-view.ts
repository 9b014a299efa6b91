// The map: callers, the service, and its members with segments and procedures. flow-canvas.ts draws
// calls over it. In development, users drag procedures and kill nodes here.

import type { MemberState, ProcedureState } from "../../console-state.ts";
import { controlled, moveProcedure } from "./controls.ts";
import { fill, h, setText } from "../base/dom.ts";
import { enableDrag } from "./drag.ts";
import { FlowCanvas } from "./flow-canvas.ts";
import { rate } from "../base/format.ts";
import { type Box, BoxMaker, detailFor } from "./map-box.ts";
import { type Model, rateKey } from "../base/model.ts";
import { rateIntervalMs } from "../base/times.ts";

/** How many chips light up per message of calls. */
const maxFlashes = 40;

export function mapView(
  model: Model,
  openProcedure: (procedure: ProcedureState) => void,
  openMember: (member: MemberState) => void,
): HTMLElement {
  const canvas = new FlowCanvas();
  const browsers = place("Browsers");
  const otherCallers = place("Other callers");
  const hub = place("");
  hub.element.classList.add("hub");
  const browserSegments = h("div", {});
  browsers.element.append(browserSegments);
  const callers = h("div", { class: "callers" }, browsers.element, otherCallers.element);
  const members = h("ul", { class: "members", "aria-label": "Members" });
  const stage = h("div", { class: "stage" }, canvas.element, callers, hub.element, members);
  const status = h("p", { class: "note", role: "status" });
  const hint = h("p", { class: "note" });
  const problems = h("ul", { class: "problems", "aria-label": "Problems" });
  const boxes = new Map<string, Box>();
  let chips: BoxMaker["chips"] = new Map();
  let drawn = "";
  let isDragging = false;

  const report = (text: string): void => {
    setText(status, text);
  };

  const isAlone = (): boolean => model.service.mode === "standalone";
  /** In development: nodes that aren't members. */
  const missingNodes = () =>
    (model.development?.nodes ?? []).filter(
      ({ name }) => !model.members.some((member) => member.name === name),
    );

  const layOut = (): void => {
    const detail = detailFor(model.members.length + missingNodes().length);
    const isDense = detail === "tiles";
    members.className = `members ${detail}`;
    stage.classList.toggle("dense", isDense);
    stage.classList.toggle("alone", isAlone());
    canvas.measure({
      stage,
      callers: { browser: browsers.element, outside: otherCallers.element },
      hub: isAlone() ? undefined : hub.element,
      members: new Map([...boxes].map(([id, { element }]) => [id, element])),
      // Lines to a hundred boxes would be an unreadable web.
      lines: !isDense,
    });
  };

  const build = (): void => {
    const focused = (document.activeElement as HTMLElement | null)?.getAttribute("aria-label");
    const maker = new BoxMaker(model, { openProcedure, openMember, report });
    ({ chips } = maker);
    const missing = missingNodes();
    const detail = detailFor(model.members.length + missing.length);
    boxes.clear();
    for (const member of model.members) boxes.set(member.id, maker.member(member, detail));
    const missingBoxes = missing.map(({ name, segments, state }) =>
      maker.node(name, segments, state, detail),
    );
    fill(members, ...[...boxes.values(), ...missingBoxes].map(({ element }) => element));
    fill(browserSegments, ...maker.segments(model.development?.browserSegments ?? [], "full"));
    const all = model.development?.problems ?? [];
    fill(problems, ...all.map((problem) => h("li", {}, problem)));
    setText(
      hint,
      controlled(model) === undefined
        ? ""
        : "To move a procedure, drag it to another segment or open it. This edits the segment files.",
    );
    // Redrawing replaced the node's button that was just pressed.
    if (focused?.includes(" node ") === true)
      members
        .querySelector<HTMLElement>(`[aria-label$="${CSS.escape(focused.split(" node ")[1]!)}"]`)
        ?.focus({ preventScroll: true });
    layOut();
  };

  const update = (): void => {
    const { mode, url } = model.service;
    hub.set(
      mode === "" ? "" : `${mode.charAt(0).toUpperCase()}${mode.slice(1)}`,
      model.hostOf(url),
    );
    // Members are asked every few seconds, which doesn't change the map.
    const content = JSON.stringify([
      mode,
      model.members.map(({ checked: _, checks: __, ...rest }) => rest),
      model.procedures.map(({ fqn, version, access, segments, route }) => [
        fqn,
        route ?? version,
        access,
        segments,
      ]),
      model.development,
    ]);
    if (isDragging || content === drawn) return;
    drawn = content;
    build();
  };

  const showRates = (): void => {
    const elsewhere = model.members.filter(({ isElsewhere }) => isElsewhere === true);
    for (const [id, box] of boxes) {
      const idle = elsewhere.some((member) => member.id === id) ? "not joined here" : "quiet";
      const perSecond = isAlone() ? recentRate(model) : model.memberRate(id);
      setText(box.rate, perSecond === 0 ? idle : `${rate(perSecond)} calls/s`);
      box.element.classList.toggle("busy", perSecond > 0);
    }
  };
  setInterval(showRates, rateIntervalMs);

  enableDrag(stage, {
    isEnabled: () => controlled(model) !== undefined,
    onDrag(started) {
      isDragging = started;
      if (!started) update();
    },
    onDrop(fqn, segment) {
      report(`Moving ${fqn} to ${segment} …`);
      moveProcedure(fqn, segment).then(
        () => report(`Moved ${fqn} to ${segment}.`),
        (error: Error) => report(error.message),
      );
    },
  });

  model.onChange((parts) => {
    if (
      ["members", "procedures", "service", "development"].some((part) => parts.has(part as never))
    )
      update();
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
      canvas.flow({ ...flow, to: flow.to ?? (isAlone() ? model.members[0]?.id : undefined) });
    for (const { fqn, version } of calls.slice(-maxFlashes))
      for (const chip of chips.get(rateKey(fqn, version)) ?? []) flash(chip);
    if (flows.some(({ from }) => from === "outside" || from === "console"))
      otherCallers.set("Other callers", "programs, curl, this console");
  });
  otherCallers.set("Other callers", "none yet");
  new ResizeObserver(layOut).observe(stage);
  return h(
    "section",
    { id: "map", class: "map", "aria-labelledby": "map-title" },
    h("div", { class: "section-head" }, h("h2", { id: "map-title" }, "Map"), hint, status),
    h(
      "p",
      { class: "hidden-text" },
      "Callers of this service, and the members it forwards calls to. The tables below show the same.",
    ),
    problems,
    stage,
  );
}

function recentRate({ figures }: Model): number {
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

const flashing = new WeakMap<Element, Animation>();
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

function flash(element: HTMLElement): void {
  if (reducedMotion.matches) return;
  flashing.get(element)?.cancel();
  flashing.set(
    element,
    element.animate([{ backgroundColor: "var(--flash)" }, {}], {
      duration: 600,
      easing: "ease-out",
    }),
  );
}
