// Copies the values of a call at the moment of the call, if their encoder is still being loaded.

/** From each object of a call, or of one value, to its copy. */
export type Copies = Map<unknown, unknown>;

interface Container {
  add?(item: unknown): void;
  append?(name: unknown, item: unknown): void;
  set?(key: unknown, item: unknown): void;
}

/**
 * A deep copy that encodes as `value` does now. An instance's copy has the current results of its getters, and none
 * of its private state, so application code mustn't get it. A value that no encoder takes, or that throws when
 * read, is returned as it is: the encoder says why it can't be sent.
 */
export function snapshot<T>(value: T, copies: Copies = new Map()): T {
  const earlier = copies.get(value);
  if (typeof value !== "object" || earlier) return (earlier as T | undefined) ?? value;
  // Select by the tag: the value may be of another realm, or a proxy, as stores make them.
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  let copy: unknown = value;
  try {
    const Type = (globalThis as unknown as Record<string, new (source?: unknown) => Container>)[
      kind
    ]!;
    if (kind === "Object" || kind === "Array") {
      copies.set(value, (copy = kind === "Array" ? [] : {}));
      copyMembers(value as object, copy as object, copies);
    } else if (/^(Map|Set|FormData|Headers)$/.test(kind)) {
      const container = new Type();
      copies.set(value, (copy = container));
      for (const entry of snapshot([...(value as Iterable<[unknown, unknown]>)], copies))
        if (container.add) container.add(entry);
        // A FormData and Headers also have `set`, which keeps one entry of a name.
        else if (container.append) container.append(...entry);
        else container.set!(...entry);
    } else if (/^(Date|URL)$/.test(kind)) copy = new Type(value);
    else if (kind === "ArrayBuffer" || ArrayBuffer.isView(value)) copy = structuredClone(value);
  } catch {
    copy = value;
  }
  copies.set(value, copy);
  return copy as T;
}

/** Copies own members, and the values of inherited getters. */
function copyMembers(from: object, to: object, copies: Copies): void {
  for (
    let holder = from;
    holder === from || Object.getPrototypeOf(holder);
    holder = Object.getPrototypeOf(holder) as object
  )
    for (const key of Reflect.ownKeys(holder)) {
      const { get, enumerable = false } = Object.getOwnPropertyDescriptor(holder, key)!;
      if (get || holder === from)
        // A getter that a class overrides is there already.
        Reflect.defineProperty(to, key, {
          value: snapshot((from as Record<PropertyKey, unknown>)[key], copies),
          enumerable,
        });
    }
  Object.setPrototypeOf(to, Object.getPrototypeOf(from) as object);
}
