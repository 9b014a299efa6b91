// Treats an option that is `undefined` as absent.

/** Returns the members of `options` that aren't `undefined`. */
export function definedOf<T extends object>(
  options: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
