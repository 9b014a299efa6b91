// Finds module state that would be split across machines: something at the top of a module that
// code of several segments uses and changes. Each node with one of these segments has a copy.

import type { Problem } from "../../../src/base/problem.ts";
import type { UnitUses } from "../../../src/split/describe/uses.ts";
import type { Application } from "../cut/application.ts";
import { type Declared, Declarations, declaredKey } from "../read/declarations.ts";
import type { SourceModule } from "../read/modules.ts";

interface Use {
  readonly module: SourceModule;
  readonly state: UnitUses;
  readonly users: Set<string>;
  readonly changers: Set<string>;
}

/** One warning for each such binding. Code that can't be read is skipped. */
export async function splitState(application: Application): Promise<readonly Problem[]> {
  const walker = new Walker(application);
  for (const { module, export: name, entries } of [
    ...application.procedures,
    ...application.routes,
  ])
    for (const { segment } of entries) await walker.from(module, name, segment.name);
  return walker.uses
    .filter(({ users, changers }) => users.size > 1 && changers.size > 0)
    .map(({ module, state, users, changers }) => {
      const names = state.names.map((name) => `"${name}"`).join(", ");
      const changing =
        changers.size === users.size
          ? "use and change it"
          : `use it, and ${listed(changers)} changes it`;
      return {
        file: module.name,
        ...state.state,
        message: `${names} is state of this module, and procedures of ${listed(users)} ${changing}: each node has its own`,
        hint: "Keep it in one segment, whose procedures the others call; or outside, in a database.",
      };
    });
}

function listed(segments: ReadonlySet<string>): string {
  return [...segments]
    .sort()
    .map((name) => `"${name}"`)
    .join(", ")
    .replace(/, ([^,]*)$/, " and $1");
}

class Walker {
  readonly #declarations: Declarations;
  readonly #visited = new Map<string, Set<string>>();
  readonly #uses = new Map<string, Use>();
  /** Keys of procedures: using one means calling its seam. */
  readonly #procedures: ReadonlySet<string>;

  constructor({ modules, procedures }: Application) {
    this.#declarations = new Declarations(modules);
    this.#procedures = new Set(
      procedures.flatMap(({ module, export: name }) =>
        this.#declarations.behind(module, name).map(declaredKey),
      ),
    );
  }

  get uses(): readonly Use[] {
    return [...this.#uses.values()];
  }

  /** Follows all declarations that a procedure may use on the node that holds it. */
  async from(module: SourceModule, name: string, segment: string): Promise<void> {
    const visited = this.#visited.get(segment) ?? new Set<string>();
    this.#visited.set(segment, visited);
    const queue = [...this.#declarations.behind(module, name)];
    for (const declared of queue) {
      const key = declaredKey(declared);
      const unit = visited.has(key) ? undefined : this.#declarations.uses(declared);
      visited.add(key);
      for (const use of unit?.uses ?? [])
        for (const target of await this.#declarations.meant(declared, use)) {
          this.#note(target, segment, unit?.changes.includes(use.name) === true);
          if (!this.#procedures.has(declaredKey(target))) queue.push(target);
        }
    }
  }

  #note(target: Declared, segment: string, changes: boolean): void {
    const state = this.#declarations.uses(target);
    if (state?.state === undefined) return;
    const key = declaredKey(target);
    const use = this.#uses.get(key) ?? {
      module: target.module,
      state,
      users: new Set(),
      changers: new Set(),
    };
    this.#uses.set(key, use);
    use.users.add(segment);
    if (changes) use.changers.add(segment);
  }
}
