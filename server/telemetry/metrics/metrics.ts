// The metrics of a service, for Prometheus.

import { monitorEventLoopDelay } from "node:perf_hooks";

import type { MeasuredRole } from "../../../src/base/ports/telemetry.ts";
import type { Answered } from "../requests/request-log.ts";
import { CallMetrics } from "./call-metrics.ts";
import { Exposition } from "./exposition.ts";
import { families } from "./families.ts";

export interface MetricsParts {
  readonly role: string;
  readonly node: string | undefined;
  readonly version: string;
  readonly memory: { readonly bytes: number; readonly limit: number };
}

/** A timer of the event loop, which runs twenty times a second. */
const resolutionMs = 50;
/** If metrics are read more often than this, each reader gets the delays since then. */
const shortestWindowMs = 5_000;

export class Metrics {
  readonly #parts: MetricsParts;
  readonly #calls: CallMetrics;
  readonly #delays = monitorEventLoopDelay({ resolution: resolutionMs });
  #delaysSince = performance.now();
  #role: MeasuredRole | undefined;

  constructor(parts: MetricsParts) {
    this.#parts = parts;
    this.#calls = new CallMetrics((name) => this.#role?.knows(name) === true);
    this.#delays.enable();
  }

  attach(role: MeasuredRole): void {
    this.#role = role;
  }

  add(answered: Answered): void {
    this.#calls.add(answered);
  }

  stop(): void {
    this.#delays.disable();
  }

  text(): string {
    const { role, node = "", version, memory } = this.#parts;
    const text = new Exposition();
    text.value(families.info, 1, { role, node, version });
    this.#calls.writeTo(text);
    const figures = this.#role?.figures();
    if (figures !== undefined) {
      const { calls, streams, links, members, resent } = figures;
      text.value(families.running, calls.running);
      text.value(families.limit, calls.limit);
      text.value(families.ageMiddle, calls.medianMs / 1_000);
      text.value(families.ageMost, calls.oldestMs / 1_000);
      text.value(families.refused, calls.refused);
      text.value(families.streams, calls.streams);
      text.value(families.streamLimit, streams.limit);
      text.value(families.items, streams.items);
      text.values(families.resent, resent);
      text.values(families.members, members);
      text.values(families.links, links);
    }
    text.value(families.held, memory.bytes);
    text.value(families.heldLimit, memory.limit);
    this.#writeDelays(text);
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed } = process.memoryUsage();
    text.value(families.cpu, (user + system) / 1e6);
    text.value(families.memory, rss);
    text.value(families.heap, heapUsed);
    text.value(families.started, Math.round(Date.now() / 1_000 - process.uptime()));
    return text.text;
  }

  #writeDelays(text: Exposition): void {
    // The histogram measures the time between two turns of its timer, in nanoseconds.
    const late = (nanoseconds: number): number =>
      Math.max(0, Math.round(nanoseconds / 1e3 - resolutionMs * 1e3) / 1e6);
    const isEmpty = this.#delays.count === 0;
    text.value(families.delayMiddle, isEmpty ? 0 : late(this.#delays.percentile(50)));
    text.value(families.delayHigh, isEmpty ? 0 : late(this.#delays.percentile(99)));
    text.value(families.delayMost, isEmpty ? 0 : late(this.#delays.max));
    if (performance.now() - this.#delaysSince < shortestWindowMs) return;
    this.#delays.reset();
    this.#delaysSince = performance.now();
  }
}
