// An option that is given as `undefined` is one that isn't given.

/** The members of `given` that aren't `undefined`. */
export function definedOf<T extends object>(
  given: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
