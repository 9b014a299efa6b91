// A procedure's dialog: where it runs, and a form that calls it.

import { addressOf } from "../base/address.ts";
import type { CallTypes, ProcedureState } from "../../console-state.ts";
import { headers } from "../../../src/base/protocol.ts";
import { argumentsField, fieldsOf } from "./argument-fields.ts";
import type { Fields } from "./field.ts";
import { typedFields } from "./typed-fields.ts";
import { openDialog } from "../base/dialog.ts";
import { fill, h } from "../base/dom.ts";
import { counted, labelOf, duration, memberName } from "../base/format.ts";
import { moveForm } from "../map/move-form.ts";
import { holdersOf, type Model, rateKey } from "../base/model.ts";
import { scalarView, valueView } from "./value-view.ts";

export function openProcedure(procedure: ProcedureState, model: Model): void {
  const { fqn, version, access, segments, parameters, route, guard } = procedure;
  const holders = holdersOf(procedure, model.members).map(memberName);
  const rates = model.rates.get(rateKey(fqn, version));
  const inBrowser = model.development?.browserSegments ?? [];
  const browserOnly = segments.length > 0 && segments.every((name) => inBrowser.includes(name));
  const facts = h("dl", { class: "facts" });
  const add = (name: string, ...content: readonly (string | Node)[]): void =>
    facts.append(h("div", {}, h("dt", {}, name), h("dd", {}, ...content)));
  add("Access", access === undefined ? "unknown" : h("span", { class: `badge ${access}` }, access));
  if (guard !== undefined) add("Guard", guard);
  add("Segments", segments.join(", ") || "unknown");
  add(
    "Where",
    holders.length > 6
      ? `${holders.slice(0, 6).join(", ")} and ${holders.length - 6} more`
      : holders.join(", ") || (browserOnly ? "in browsers" : "nowhere now"),
  );
  if (rates !== undefined)
    add(
      "Last minute",
      `${counted(rates.calls, "call")}, ${counted(rates.failures, "failure")}, p50 ${duration(rates.p50)}, p95 ${duration(rates.p95)}`,
    );
  const callForm = (): HTMLElement => {
    if (route !== undefined) return noteOf("A route: send it a request.");
    if (browserOnly) return noteOf("It runs in browsers only, so it can't be called from here.");
    if (access === "private")
      return noteOf("Private: only procedures of its own node can call it.");
    const place = h("div", {}, noteOf("Asking its node what it takes …"));
    void typesOf(procedure).then((types) => {
      if (types !== undefined) return fill(place, formOf(procedure, typedFields(types)));
      fill(place, formOf(procedure, parameters && fieldsOf(parameters)));
    });
    return place;
  };
  openDialog(
    `${fqn} ${labelOf(procedure)}`.trim(),
    h("div", {}, facts, moveForm(procedure, model), callForm()),
  );
}

function noteOf(text: string): HTMLElement {
  return h("p", { class: "note" }, text);
}

/** Its parameter types. `undefined` if its node is gone, or doesn't check its callers. */
async function typesOf({ fqn, version }: ProcedureState): Promise<CallTypes | undefined> {
  try {
    const answer = await fetch(addressOf(`/types/${pathOf(fqn, version)}`));
    return answer.ok ? (((await answer.json()) as CallTypes | null) ?? undefined) : undefined;
  } catch {
    // The page says itself that the service doesn't answer; the form can be filled in meanwhile.
    return undefined;
  }
}

function pathOf(fqn: string, version: string | undefined): string {
  const path = fqn.split("/").map(encodeURIComponent).join("/");
  return version === undefined ? path : `${path}?version=${version}`;
}

/** Without `known`, all arguments are one value. */
function formOf({ fqn, version }: ProcedureState, known: Fields | undefined): HTMLElement {
  const whole = known === undefined ? argumentsField() : undefined;
  const fields = whole === undefined ? [...(known ?? [])] : [["arguments", whole] as const];
  const answer = h("div", { class: "answer", role: "status", "aria-live": "polite" });
  const authorization = h("input", {
    id: "authorization",
    name: "authorization",
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "Bearer …",
  });
  const button = h("button", { type: "submit", class: "primary" }, "Call");

  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    let body: string;
    try {
      const values = fields.flatMap(([name, field]) => {
        const argument = field.read(name);
        return argument === undefined ? [] : [[name, argument.value] as const];
      });
      body = JSON.stringify(
        whole === undefined ? Object.fromEntries(values) : (values[0]?.[1] ?? {}),
      );
    } catch (error) {
      fill(answer, h("p", { class: "status bad" }, (error as Error).message));
      return;
    }
    button.disabled = true;
    try {
      fill(answer, ...(await call(fqn, version, body, authorization.value)));
    } catch (error) {
      fill(answer, h("p", { class: "status bad" }, `No answer: ${(error as Error).message}`));
    } finally {
      button.disabled = false;
    }
  };
  return h(
    "form",
    // No validation by the browser: the service validates the arguments.
    { class: "call-form", novalidate: true, onsubmit: (event: SubmitEvent) => void submit(event) },
    fields.length === 0 ? noteOf("It takes no arguments.") : null,
    ...fields.map(([, { element }]) => element),
    h(
      "details",
      { class: "more-fields" },
      h("summary", {}, "Headers"),
      h(
        "div",
        { class: "argument" },
        h("label", { for: "authorization" }, h("code", {}, "authorization")),
        authorization,
      ),
    ),
    h("div", { class: "actions" }, button),
    answer,
  );
}

async function call(
  fqn: string,
  version: string | undefined,
  body: string,
  authorization: string,
): Promise<HTMLElement[]> {
  const started = performance.now();
  const answer = await fetch(addressOf(`/rpc/${pathOf(fqn, version)}`), {
    method: "POST",
    headers: {
      "content-type": "application/json",
      [headers.encoding]: "serialized",
      ...(authorization === "" ? {} : { authorization }),
    },
    body,
  });
  const text = await answer.text();
  const node = answer.headers.get(headers.node);
  const head = h(
    "p",
    { class: "answer-head" },
    h("span", { class: `badge ${answer.ok ? "good" : "bad"}` }, String(answer.status)),
    ` ${duration(performance.now() - started)}${node === null ? "" : ` on ${node}`}`,
  );
  const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true;
  if (answer.ok)
    return [
      head,
      isJson
        ? valueView(JSON.parse(text))
        : scalarView(answer.headers.get(headers.dataType) ?? "string", text),
    ];
  const form = isJson
    ? (JSON.parse(text) as { type?: string; message?: string; trace?: string[] })
    : { message: text };
  return [
    head,
    h(
      "p",
      { class: "status bad" },
      `${form.type === undefined ? "" : `${form.type}: `}${form.message ?? ""}`,
    ),
    ...((form.trace ?? []).length === 0
      ? []
      : [
          h(
            "ol",
            { class: "trace" },
            ...(form.trace ?? []).map((line) => h("li", {}, h("code", {}, line))),
          ),
        ]),
  ];
}
