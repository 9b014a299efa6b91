// The console's state besides calls: the service, its members and procedures. Each part stays the same object until
// something in it changes.

import type {
  DevelopmentState,
  MemberState,
  ProcedureState,
  ServiceState,
} from "../console-state.ts";
import type { CallFigures } from "../../src/base/ports/telemetry.ts";
import type { Health } from "../../src/http/health.ts";
import type { Clock } from "../../src/base/ports.ts";
import type { Controls } from "../../server/console/console-port.ts";
import type { Source } from "./sources/source.ts";
import { checksMs, overviewRefreshMs } from "./base/times.ts";

export interface Facts {
  readonly service: ServiceState;
  readonly members: readonly MemberState[];
  readonly procedures: readonly ProcedureState[];
  readonly development: DevelopmentState | undefined;
}

export interface OverviewParts {
  readonly clock: Clock;
  readonly source: Source;
  readonly health: Health;
  readonly calls: () => CallFigures;
  /** Where the service listens. */
  readonly url: () => string;
  readonly controls: Controls | undefined;
}

export class Overview {
  readonly #parts: OverviewParts;
  readonly #texts = new Map<keyof Facts, string>();
  #facts: Facts;
  #checks: ServiceState["checks"] = {};
  #calls: CallFigures;
  #refreshedAt = -Infinity;
  #checkedAt = -Infinity;

  constructor(parts: OverviewParts) {
    this.#parts = parts;
    this.#calls = parts.calls();
    this.#facts = {
      service: this.#service(),
      members: [],
      procedures: [],
      development: undefined,
    };
  }

  read(): Facts {
    const { clock, controls } = this.#parts;
    const now = clock.now();
    if (now - this.#refreshedAt >= overviewRefreshMs) {
      this.#refreshedAt = now;
      this.#refresh(now);
    }
    this.#keep("service", this.#service());
    this.#keep("development", controls?.state());
    return this.#facts;
  }

  #refresh(now: number): void {
    const { source, health, calls, controls } = this.#parts;
    this.#calls = calls();
    if (now - this.#checkedAt >= checksMs) {
      this.#checkedAt = now;
      void health.details().then((details) => (this.#checks = details));
    }
    const procedures = controls?.procedures() ?? source.procedures();
    this.#facts = { ...this.#facts, procedures };
    const members = source.members();
    const lasting = members.map(({ checked: _, ...rest }) => rest);
    this.#keep("members", members, lasting);
  }

  /** Replaces a part if its `content` has changed. */
  #keep<Part extends keyof Facts>(part: Part, value: Facts[Part], content: unknown = value): void {
    const text = JSON.stringify(content) ?? "";
    if (this.#texts.get(part) === text) return;
    this.#texts.set(part, text);
    this.#facts = { ...this.#facts, [part]: value };
  }

  #service(): ServiceState {
    const { source, url } = this.#parts;
    const { mode, name } = source;
    return {
      mode,
      url: url(),
      ...(name === undefined ? {} : { name }),
      checks: this.#checks,
      calls: this.#calls,
    };
  }
}
