// The table of members with state and health checks; the service itself comes first.

import type { CallFigures } from "../../src/base/ports/telemetry.ts";
import type { MemberState } from "../console-state.ts";
import { openDialog } from "./base/dialog.ts";
import { arrange, gridOf, h, rove, setText } from "./base/dom.ts";
import { callsAtOnce, counted, memberName } from "./base/format.ts";
import { nodeButton } from "./map/map-box.ts";
import { holdersOf, type Model } from "./base/model.ts";

const heads = [
  "Service",
  "Segments",
  "State",
  "Calls at once",
  "Median / oldest",
  "Checked",
  "Health checks",
];

export function membersView(model: Model): HTMLElement {
  const body = h("div", { role: "rowgroup" });
  const grid = gridOf("members-grid", "Services and their health", heads, body);
  let rows: readonly Row[] = [];
  const elements = (): HTMLElement[] => rows.map(({ element }) => element);
  model.onChange((parts) => {
    if (!parts.has("members") && !parts.has("service")) return;
    const focused = elements().indexOf(document.activeElement as HTMLElement);
    const previousRows = new Map(rows.map((row) => [row.text, row]));
    const serviceRows = model.service.mode === "standalone" ? [] : [serviceRow(model)];
    rows = [...serviceRows, ...model.members.map((member) => memberRow(member, model))].map(
      ({ text, make, times }) => {
        const row = previousRows.get(text) ?? { text, ...make() };
        row.times.forEach((cell, at) => setText(cell, times[at]!));
        return row;
      },
    );
    arrange(body, elements());
    const at = Math.max(0, Math.min(focused, rows.length - 1));
    for (const [index, { element }] of rows.entries()) element.tabIndex = index === at ? 0 : -1;
    if (focused >= 0) rows[at]?.element.focus({ preventScroll: true });
  });
  const openRow = (event: Event): void => {
    const id = (event.target as HTMLElement).closest<HTMLElement>("[data-row]")?.dataset["row"];
    const member = model.members.find((candidate) => candidate.id === id);
    if (member !== undefined) openMember(member, model);
  };
  grid.addEventListener("click", openRow);
  grid.addEventListener("keydown", (event) => {
    if (event.key === "Enter") openRow(event);
  });
  rove(grid, elements);
  return h(
    "section",
    { id: "health", "aria-labelledby": "health-title" },
    h("div", { class: "section-head" }, h("h2", { id: "health-title" }, "Services and health")),
    grid,
  );
}

const cell = (kind: string, ...content: readonly (string | Node)[]): HTMLElement =>
  h("div", { role: "gridcell", class: kind }, ...content);

/** `text` is the row's content without times, and identifies it; only the times change. */
interface Row {
  readonly text: string;
  readonly element: HTMLElement;
  readonly times: readonly HTMLElement[];
}

/** Describes a row: an existing one with this `text` is reused. */
interface RowSource {
  readonly text: string;
  readonly times: readonly [calls: string, ages: string, checked: string];
  make(): Omit<Row, "text">;
}

function serviceRow(model: Model): RowSource {
  const { mode, url, name, checks, calls } = model.service;
  const names = [name ?? mode, model.hostOf(url)] as const;
  return rowSource("", names, "–", ["good", "this one"], [...callsAtOnce(calls), "–"], checks);
}

/** Where a member is: a phone doesn't show the other columns. */
function placeOf(member: MemberState, model: Model): string {
  const place = member.name === undefined ? [] : [model.hostOf(member.url ?? model.service.url)];
  const gateways = member.gateways?.map((url) => model.hostOf(url)) ?? [];
  const known = gateways.length === 0 ? [] : [`at ${gateways.join(" and ")}`];
  return [...place, ...known].join(" · ");
}

/** A standalone has one member: itself. */
function callsOf(member: MemberState, { service }: Model): CallFigures | undefined {
  return service.mode === "standalone" ? service.calls : member.calls;
}

function badgeOf({ isElsewhere, state }: MemberState): readonly [kind: string, text: string] {
  if (isElsewhere === true) return ["bad", "not joined here"];
  return state === "ready" ? ["good", "in rotation"] : ["bad", "out"];
}

function stateText({ isElsewhere, state }: MemberState): string {
  if (isElsewhere === true) return "not joined here: calls of this gateway don't go to it";
  return state === "ready" ? "in rotation" : "out of rotation: unhealthy or silent";
}

function memberRow(member: MemberState, model: Model): RowSource {
  const { checked, segments } = member;
  return rowSource(
    member.id,
    [memberName(member), placeOf(member, model)],
    segments?.join(", ") ?? "unknown",
    badgeOf(member),
    [
      ...callsAtOnce(callsOf(member, model)),
      checked === undefined ? "–" : `${Math.round(checked / 1000)} s ago`,
    ],
    model.service.mode === "standalone" ? model.service.checks : member.checks,
  );
}

function rowSource(
  id: string,
  [name, host]: readonly [string, string],
  segments: string,
  [kind, state]: readonly [string, string],
  times: RowSource["times"],
  checks: Readonly<Record<string, unknown>> | undefined,
): RowSource {
  return {
    text: JSON.stringify([id, name, host, segments, state, checks]),
    times,
    make() {
      const columns = ["calls", "ages", "checked"];
      const places = columns.map((column) => cell(`${column} number`));
      const element = h(
        "div",
        { class: "row", role: "row", "data-row": id, tabindex: -1 },
        cell("fqn", name, h("small", {}, ` ${host}`)),
        cell("segments", segments),
        cell("state", h("span", { class: `badge ${kind}` }, state)),
        ...places,
        cell("checks", ...badges(checks)),
      );
      return { element, times: places };
    },
  };
}

function badges(checks: Readonly<Record<string, unknown>> | undefined): (string | Node)[] {
  const all = Object.entries(checks ?? {});
  if (all.length === 0) return [checks === undefined ? "–" : "none"];
  return all.map(([name, result]) => {
    const healthy =
      result === true ||
      (typeof result === "object" &&
        result !== null &&
        (result as { healthy?: unknown }).healthy === true);
    return h(
      "span",
      { class: `badge ${healthy ? "good" : "bad"}` },
      `${name} ${healthy ? "healthy" : "unhealthy"}`,
    );
  });
}

export function openMember(member: MemberState, model: Model): void {
  const held = model.procedures.filter((procedure) => holdersOf(procedure, [member]).length > 0);
  const facts = h("dl", { class: "facts" });
  const add = (name: string, ...content: readonly (string | Node)[]): void =>
    facts.append(h("div", {}, h("dt", {}, name), h("dd", {}, ...content)));
  if (member.url !== undefined) add("Address", member.url);
  add("State", stateText(member));
  add("Segments", member.segments?.join(", ") ?? "unknown");
  if (member.gateways !== undefined) add("Gateways", member.gateways.join(", "));
  const [calls, ages] = callsAtOnce(callsOf(member, model));
  add("Calls at once", calls);
  add("Running for", `${ages} (median / oldest)`);
  const problem = h("span", { class: "note", role: "status" });
  const control = nodeButton(model, member.name, (text) => setText(problem, text));
  if (control !== null) add("Development", control, problem);
  add(
    "Health checks",
    ...badges(model.service.mode === "standalone" ? model.service.checks : member.checks),
  );
  const details = JSON.stringify(member.checks ?? {}, undefined, 2);
  openDialog(
    memberName(member),
    h(
      "div",
      {},
      facts,
      details === "{}" ? null : h("pre", { tabindex: 0 }, details),
      h("h3", {}, counted(held.length, "procedure")),
      h(
        "ul",
        { class: "names" },
        ...held
          .slice(0, 200)
          .map(({ fqn, version, route }) =>
            h("li", {}, h("code", {}, `${fqn} ${route ?? version ?? ""}`)),
          ),
      ),
    ),
  );
}
