// The list of procedures, grouped by segment. Only visible rows are in the document, so two
// thousand cost as much as twenty.

import type { ProcedureState } from "../console-state.ts";
import { fill, h, narrow, rowHeight, setText } from "./base/dom.ts";
import { count, duration, rate, labelOf } from "./base/format.ts";
import { type Model, rateKey } from "./base/model.ts";

type Row =
  | { readonly kind: "group"; readonly name: string; readonly size: number }
  | { readonly kind: "procedure"; readonly procedure: ProcedureState };

/** With more procedures, groups start closed. */
const maxOpen = 60;
/** Extra rows above and below the visible ones. */
const overscan = 6;

export function proceduresView(
  model: Model,
  open: (procedure: ProcedureState) => void,
): HTMLElement {
  const search = h("input", {
    id: "search",
    type: "search",
    placeholder: "Name, segment or version",
    autocomplete: "off",
    spellcheck: "false",
  });
  const found = h("p", { class: "note", role: "status" });
  const heads = ["Procedure", "Access", "Calls/s", "Failures", "p50", "p95"].map((head) =>
    h("div", { role: "columnheader" }, head),
  );
  const space = h("div", { class: "space", role: "rowgroup" });
  const header = h(
    "div",
    { role: "rowgroup", class: "head" },
    h("div", { class: "row header", role: "row", "aria-rowindex": 1 }, ...heads),
  );
  const scroller = h("div", { class: "scroller", role: "presentation" }, header, space);
  const grid = h(
    "div",
    {
      class: "grid procedures-grid",
      role: "treegrid",
      "aria-label": "Procedures by segment",
      "aria-colcount": heads.length,
    },
    scroller,
  );
  const closed = new Map<string, boolean>();
  const made = new Map<number, { element: HTMLElement; row: Row; cells: readonly HTMLElement[] }>();
  let rows: readonly Row[] = [];
  let current = 0;

  const list = (): void => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const groups = new Map<string, ProcedureState[]>();
    let size = 0;
    for (const procedure of model.procedures) {
      const text =
        `${procedure.fqn} ${procedure.segments.join(" ")} ${labelOf(procedure)} ${procedure.access ?? ""} ${procedure.guard ?? ""}`.toLowerCase();
      if (!words.every((word) => text.includes(word))) continue;
      size++;
      for (const segment of procedure.segments.length === 0
        ? ["(segment unknown)"]
        : procedure.segments) {
        const group = groups.get(segment) ?? [];
        groups.set(segment, group);
        group.push(procedure);
      }
    }
    const isClosed = (name: string): boolean =>
      words.length === 0 && (closed.get(name) ?? model.procedures.length > maxOpen);
    rows = [...groups]
      .toSorted(([a], [b]) => a.localeCompare(b, "en"))
      .flatMap(([name, procedures]): Row[] => [
        { kind: "group", name, size: procedures.length },
        ...(isClosed(name)
          ? []
          : procedures.map((procedure): Row => ({ kind: "procedure", procedure }))),
      ]);
    setText(
      found,
      words.length === 0
        ? `${count(size)} in ${count(groups.size)} segments`
        : `${count(size)} found`,
    );
    grid.setAttribute("aria-rowcount", String(rows.length + 1));
    space.style.height = `${rows.length * rowHeight()}px`;
    current = Math.min(current, Math.max(0, rows.length - 1));
    for (const { element } of made.values()) element.remove();
    made.clear();
    draw();
  };

  /** Adds rows that have scrolled into view and removes those that have left it. */
  const draw = (): void => {
    const size = rowHeight();
    const first = Math.max(0, Math.floor(scroller.scrollTop / size) - overscan);
    const last = Math.min(
      rows.length - 1,
      Math.ceil((scroller.scrollTop + scroller.clientHeight) / size) + overscan,
    );
    for (const [at, { element }] of made)
      if ((at < first || at > last) && at !== current) {
        element.remove();
        made.delete(at);
      }
    for (let at = first; at <= last; at++) if (!made.has(at)) make(at, size);
    if (rows.length > 0 && !made.has(current)) make(current, size);
    figures();
  };

  const make = (at: number, size: number): void => {
    const row = rows[at]!;
    const cells = row.kind === "group" ? [groupCell(row)] : procedureCells(row.procedure);
    const isOpen = row.kind === "group" && rows[at + 1]?.kind === "procedure";
    const element = h(
      "div",
      {
        class: `row ${row.kind}`,
        role: "row",
        "data-row": at,
        "aria-rowindex": at + 2,
        "aria-level": row.kind === "group" ? 1 : 2,
        "aria-expanded": row.kind === "group" ? String(isOpen) : undefined,
        tabindex: at === current ? 0 : -1,
      },
      ...cells,
    );
    element.style.transform = `translateY(${at * size}px)`;
    // In reading order, for screen readers.
    const after = [...made.keys()].filter((index) => index > at).toSorted((a, b) => a - b)[0];
    space.insertBefore(element, after === undefined ? null : (made.get(after)?.element ?? null));
    made.set(at, { element, row, cells });
  };

  const figures = (): void => {
    for (const { row, cells, element } of made.values()) {
      if (row.kind === "group") continue;
      const rates = model.rates.get(rateKey(row.procedure.fqn, row.procedure.version));
      const texts = rates && [
        rate(rates.perSecond),
        rates.failures === 0 ? "–" : count(rates.failures),
        duration(rates.p50),
        duration(rates.p95),
      ];
      cells.slice(2).forEach((cell, at) => setText(cell, texts?.[at] ?? "–"));
      cells[3]?.classList.toggle("bad", (rates?.failures ?? 0) > 0);
      element.classList.toggle("quiet", rates === undefined);
    }
  };

  const act = (at: number): void => {
    const row = rows[at];
    if (row?.kind === "procedure") open(row.procedure);
    else if (row !== undefined) {
      closed.set(row.name, rows[at + 1]?.kind === "procedure");
      list();
      made.get(at)?.element.focus();
    }
  };

  const go = (to: number): void => {
    if (rows[to] === undefined) return;
    const old = made.get(current)?.element;
    if (old !== undefined) old.tabIndex = -1;
    current = to;
    const size = rowHeight();
    if (to * size < scroller.scrollTop) scroller.scrollTop = to * size;
    else {
      const end = (to + 1) * size + (narrow.matches ? 0 : header.clientHeight);
      if (end > scroller.scrollTop + scroller.clientHeight)
        scroller.scrollTop = end - scroller.clientHeight;
    }
    draw();
    const element = made.get(to)?.element;
    if (element !== undefined) {
      element.tabIndex = 0;
      element.focus({ preventScroll: true });
    }
  };

  const rowOf = (event: Event): number =>
    Number((event.target as HTMLElement).closest<HTMLElement>("[data-row]")?.dataset["row"] ?? -1);
  grid.addEventListener("click", (event) => {
    const at = rowOf(event);
    if (at < 0) return;
    current = at;
    act(at);
  });
  grid.addEventListener("keydown", (event) => {
    const at = rowOf(event);
    if (at < 0) return;
    const row = rows[at];
    const isOpen = rows[at + 1]?.kind === "procedure";
    const page = Math.max(1, Math.floor(scroller.clientHeight / rowHeight()) - 1);
    const to = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: rows.length - 1,
      PageDown: Math.min(rows.length - 1, at + page),
      PageUp: Math.max(0, at - page),
    }[event.key];
    if (to !== undefined) go(to);
    else if (event.key === "Enter" || event.key === " ") act(at);
    else if (row?.kind === "group" && event.key === (isOpen ? "ArrowLeft" : "ArrowRight")) act(at);
    else if (row?.kind === "procedure" && event.key === "ArrowLeft")
      go(rows.findLastIndex((candidate, index) => index < at && candidate.kind === "group"));
    else return;
    event.preventDefault();
  });
  search.addEventListener("input", list);
  scroller.addEventListener("scroll", draw, { passive: true });
  narrow.addEventListener("change", list);
  new ResizeObserver(draw).observe(scroller);
  model.onChange((parts) => {
    if (parts.has("procedures")) list();
    else if (parts.has("rates")) figures();
  });
  return h(
    "section",
    { id: "procedures", "aria-labelledby": "procedures-title" },
    h(
      "div",
      { class: "section-head" },
      h("h2", { id: "procedures-title" }, "Procedures"),
      found,
      h(
        "div",
        { class: "field" },
        h("label", { for: "search", class: "hidden-text" }, "Search procedures"),
        search,
      ),
    ),
    grid,
  );
}

function groupCell({ name, size }: { name: string; size: number }): HTMLElement {
  return h(
    "div",
    { role: "gridcell", "aria-colspan": 6 },
    h("span", { class: "turn", "aria-hidden": "true" }),
    h("span", { class: "segment" }, name),
    h("span", { class: "note" }, ` ${count(size)}`),
  );
}

function procedureCells(procedure: ProcedureState): HTMLElement[] {
  const { fqn, access, guard } = procedure;
  const cut = fqn.lastIndexOf("/") + 1;
  const name = h(
    "div",
    { role: "gridcell", class: "fqn", title: fqn },
    h("span", { class: "folder" }, fqn.slice(0, cut)),
    fqn.slice(cut),
    h("small", {}, ` ${labelOf(procedure)}`),
    ...(guard === undefined ? [] : [h("small", { title: `Guard: ${guard}` }, " guarded")]),
  );
  const cells = ["rate", "failures", "p50", "p95"].map((kind) =>
    h("div", { role: "gridcell", class: `number ${kind}` }, "–"),
  );
  const right = h("div", { role: "gridcell", class: "access" });
  fill(right, access === undefined ? "–" : h("span", { class: `badge ${access}` }, access));
  return [name, right, ...cells];
}
