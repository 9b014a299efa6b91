// Numbers and names as people read them.

import type { CallFigures } from "../../../src/base/ports/telemetry.ts";
import type { Caller, MemberState, ProcedureState, SeenCall } from "../../console-state.ts";
import { parsedUrl } from "../../../src/base/url.ts";

const whole = new Intl.NumberFormat("en");

export const count = (value: number): string => whole.format(value);

/** `1 call`, `2 calls`. */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** `0.4`, `12.3`, `540`. */
export function rate(value: number): string {
  if (value === 0) return "0";
  return value < 10 ? value.toFixed(1) : count(Math.round(value));
}

/** `0.31 ms`, `12 ms`, `1.4 s`. */
export function duration(ms: number): string {
  if (ms >= 10_000) return `${(ms / 1000).toFixed(0)} s`;
  if (ms >= 1_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms >= 100) return `${ms.toFixed(0)} ms`;
  return `${ms.toFixed(ms >= 1 ? 1 : 2)} ms`;
}

/** Two durations, with one unit if they share it: `172 / 526 ms`. */
export function durations(firstMs: number, secondMs: number): string {
  const [first, second] = [duration(firstMs), duration(secondMs)];
  const unit = second.slice(second.indexOf(" "));
  return first.endsWith(unit) && !(unit === " s" && first.endsWith(" ms"))
    ? `${first.slice(0, -unit.length)} / ${second}`
    : `${first} / ${second}`;
}

/** `17 B`, `1.2 kB`. */
export function bytes(size: number | undefined): string {
  if (size === undefined) return "–";
  if (size < 1000) return `${size} B`;
  return size < 1_000_000
    ? `${(size / 1000).toFixed(1)} kB`
    : `${(size / 1_000_000).toFixed(1)} MB`;
}

/** `12 of 1,000, 3 streams`, and for how long the calls have been running. */
export function callsAtOnce(calls: CallFigures | undefined): readonly [string, string] {
  if (calls === undefined) return ["–", "–"];
  const { running, limit, medianMs, oldestMs, streams } = calls;
  return [
    `${count(running)} of ${count(limit)}${streams > 0 ? `, ${counted(streams, "stream")}` : ""}`,
    running === 0 ? "–" : durations(medianMs, oldestMs),
  ];
}

export const callers: Readonly<Record<Caller, string>> = {
  browser: "browser",
  outside: "other caller",
  member: "a service",
  local: "this process",
  console: "console",
};

export function memberName(member: MemberState): string {
  return member.name ?? (member.url === undefined ? "this service" : hostOf(member.url));
}

export function hostOf(url: string): string {
  return parsedUrl(url)?.host ?? url;
}

export function failed(call: SeenCall): boolean {
  return call.status === undefined ? call.error !== undefined : call.status >= 400;
}

/** The result of a call in a word or two. */
export function outcome(call: SeenCall): string {
  if (call.status === undefined) return call.error ?? "done";
  return call.error === undefined ? String(call.status) : `${call.status} ${call.error}`;
}

/** Empty for `0.0.0`, which means no version. */
export function versionText(version: string | undefined): string {
  return version === undefined || version === "0.0.0" ? "" : `v${version}`;
}

/** The part that a procedure's name leaves open: its version, or a route's method and path. */
export function labelOf({ route, version }: ProcedureState): string {
  return route ?? versionText(version);
}
