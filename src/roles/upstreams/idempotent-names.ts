// Which procedures a node may send again after no answer, by the manifest. The names are loaded when a call first
// got no answer, so a node that never needs them keeps none.

import type { ServerManifest } from "../../base/manifest.ts";

export interface IdempotentNames {
  has(fqn: string): boolean | Promise<boolean>;
  /** The manifest has changed. */
  changed(): void;
}

export function idempotentNames(manifest: () => Promise<ServerManifest>): IdempotentNames {
  let known: ReadonlySet<string> | undefined;
  let loading: Promise<ReadonlySet<string>> | undefined;
  const load = async (): Promise<ReadonlySet<string>> => {
    const current = loading;
    const names = idempotentIn(await manifest());
    if (loading === current) known = names;
    return names;
  };
  return {
    has(fqn) {
      if (known !== undefined) return known.has(fqn);
      loading ??= load();
      // Without the manifest nothing is sent again.
      return loading.then(
        (names) => names.has(fqn),
        () => {
          loading = undefined;
          return false;
        },
      );
    },
    changed() {
      known = loading = undefined;
    },
  };
}

/** Names whose versions may all be sent again, in every segment that has them. */
export function idempotentIn({ procedures, segments }: ServerManifest): ReadonlySet<string> {
  const names = new Set<string>();
  const others = new Set<string>();
  for (const { procedure, idempotent, safe } of Object.values(segments).flat()) {
    const { fqn } = procedures[procedure] ?? {};
    if (fqn !== undefined) (idempotent === true || safe === true ? names : others).add(fqn);
  }
  for (const fqn of others) names.delete(fqn);
  return names;
}
