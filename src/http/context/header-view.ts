// The headers of a context: readable like a Map, and made on first use.

export class HeaderView implements ReadonlyMap<string, string> {
  readonly #read: () => ReadonlyMap<string, string>;
  #map: ReadonlyMap<string, string> | undefined;

  constructor(read: () => ReadonlyMap<string, string>) {
    this.#read = read;
  }

  get #fields(): ReadonlyMap<string, string> {
    return (this.#map ??= this.#read());
  }

  get size(): number {
    return this.#fields.size;
  }

  get(name: string): string | undefined {
    return this.#fields.get(name.toLowerCase());
  }

  has(name: string): boolean {
    return this.#fields.has(name.toLowerCase());
  }

  entries(): MapIterator<[string, string]> {
    return this.#fields.entries();
  }

  keys(): MapIterator<string> {
    return this.#fields.keys();
  }

  values(): MapIterator<string> {
    return this.#fields.values();
  }

  forEach(
    act: (value: string, name: string, headers: ReadonlyMap<string, string>) => void,
    self?: unknown,
  ): void {
    for (const [name, value] of this.#fields) act.call(self, value, name, this);
  }

  [Symbol.iterator](): MapIterator<[string, string]> {
    return this.#fields[Symbol.iterator]();
  }

  // Types don't allow these; code without types gets an explanation.

  set(name: string): never {
    return readOnly(name);
  }

  append(name: string): never {
    return readOnly(name);
  }

  delete(name: string): never {
    return readOnly(name);
  }

  clear(): never {
    return readOnly();
  }
}

function readOnly(name?: string): never {
  throw new TypeError(
    `The headers of a context are the request's, so ${name === undefined ? "they" : `'${name}'`} can't be changed: set a header of the answer with response.headers, or one of a call with withOptions`,
  );
}
