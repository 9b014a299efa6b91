// Compares everything observable of two values, more strictly than assertion libraries for
// browsers.

const bytesOf = (view: ArrayBufferView | ArrayBuffer): Uint8Array =>
  view instanceof ArrayBuffer
    ? new Uint8Array(view)
    : new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

/** Where and how `actual` differs from `expected`; `undefined` if it doesn't. */
export async function difference(
  expected: unknown,
  actual: unknown,
  path = "value",
): Promise<string | undefined> {
  if (
    typeof expected !== "object" ||
    expected === null ||
    typeof actual !== "object" ||
    actual === null
  )
    return Object.is(expected, actual)
      ? undefined
      : `${path}: ${show(expected)} became ${show(actual)}`;
  if (Object.getPrototypeOf(expected) !== Object.getPrototypeOf(actual))
    return `${path}: a ${expected.constructor.name} became a ${actual.constructor?.name} of another prototype`;
  for (const [name, expectedPart, actualPart] of await partsOf(expected, actual)) {
    const found = await difference(expectedPart, actualPart, `${path}${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

type Part = readonly [name: string, expected: unknown, actual: unknown];

async function partsOf(expected: object, actual: object): Promise<readonly Part[]> {
  const both = (name: string, read: (value: never) => unknown): Part => [
    name,
    read(expected as never),
    read(actual as never),
  ];
  const each = (name: string, read: (value: never) => readonly unknown[]): Part[] => {
    const [left, right] = [read(expected as never), read(actual as never)];
    return [
      [`${name} length`, left.length, right.length],
      ...left.map((part, at): Part => [`${name}[${at}]`, part, right[at]]),
    ];
  };
  if (expected instanceof Date) return [both(" time", (date: Date) => date.getTime())];
  if (expected instanceof RegExp) return [both(" text", String)];
  if (expected instanceof URL) return [both(" address", (url: URL) => url.href)];
  if (expected instanceof Map)
    return each(" entry", (map: Map<unknown, unknown>) => [...map].flat());
  if (expected instanceof Set) return each(" entry", (set: Set<unknown>) => [...set]);
  if (expected instanceof Blob) {
    const bytes = await Promise.all(
      [expected, actual as Blob].map(async (blob) =>
        [...new Uint8Array(await blob.arrayBuffer())].join(),
      ),
    );
    const ofFile =
      expected instanceof File
        ? [
            both(" name", (file: File) => file.name),
            both(" time", (file: File) => file.lastModified),
          ]
        : [];
    return [
      both(" type", (blob: Blob) => blob.type),
      [" bytes", ...bytes] as unknown as Part,
      ...ofFile,
    ];
  }
  if (expected instanceof ArrayBuffer || ArrayBuffer.isView(expected))
    return each(" byte", (view: ArrayBuffer) => [...bytesOf(view)]);
  const ownKeys = each(" own key", (value: object) => Object.keys(value).toSorted());
  const names = new Set([...Object.keys(expected), ...gettersOf(expected)]);
  // An error's properties that Object.keys doesn't list.
  if (expected instanceof Error)
    for (const name of ["name", "message", "cause", "trace"]) names.add(name);
  const read = (value: object, name: string): unknown =>
    // An error without a trace equals one with an empty trace.
    (value as Record<string, unknown>)[name] ??
    (name === "trace" ? [] : (value as Record<string, unknown>)[name]);
  return [
    ...ownKeys,
    ...[...names].map((name): Part => [`.${name}`, read(expected, name), read(actual, name)]),
  ];
}

/** Getters of the value's classes, which reveal private state. */
function gettersOf(value: object): string[] {
  const names: string[] = [];
  for (
    let prototype: object | null = Object.getPrototypeOf(value);
    prototype !== null && prototype !== Object.prototype;
    prototype = Object.getPrototypeOf(prototype)
  )
    for (const [name, { get }] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
      if (get !== undefined) names.push(name);
  return names;
}

function show(value: unknown): string {
  return Object.is(value, -0)
    ? "-0"
    : typeof value === "object" && value !== null
      ? `a ${value.constructor?.name}`
      : `${typeof value} ${String(value)}`;
}
