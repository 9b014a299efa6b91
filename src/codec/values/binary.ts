// Binary values: their bytes as base64 text, and back. The bytes are little-endian, as on every
// machine that runs this.

import { attempt } from "./fault.ts";

type View = new (buffer: ArrayBuffer) => ArrayBufferView;

// Float16Array is newer than the oldest runtimes that we support.
const views = new Map<string, View>(
  [
    DataView,
    Int8Array,
    Uint8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    Float32Array,
    Float64Array,
    BigInt64Array,
    BigUint64Array,
    (globalThis as { Float16Array?: View }).Float16Array ?? Uint8Array,
  ].map((type) => [type.name, type as View]),
);

/** The bytes of a buffer, or the part that a view shows; `undefined` for other values. */
export function bytesOf(value: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  // The cast covers views on shared memory, which read the same.
  return ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer as ArrayBuffer, value.byteOffset, value.byteLength)
    : undefined;
}

/** `Uint8Array`, `DataView`, `ArrayBuffer`, `AsyncGenerator` … Node's Buffer is a `Uint8Array`. */
export function kindOf(value: object): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** Also of another realm, if its content can be read. */
export function isBlob(value: object): value is Blob {
  return (
    value instanceof Blob ||
    (/^(Blob|File)$/.test(kindOf(value)) && typeof (value as Blob).arrayBuffer === "function")
  );
}

export function isFile(blob: Blob): blob is File {
  return kindOf(blob) === "File";
}

/** The members of a Binary form, besides those that every form has. */
export const binaryMembers = ["type", "base64", "mediaType", "fileName", "lastModified"] as const;

/** The value of a Binary form; `undefined` if its type is unknown or its members don't fit. */
export function binaryFrom(form: Readonly<Record<string, unknown>>): object | undefined {
  const { type, base64, mediaType, fileName, lastModified } = Object.assign(
    Object.create(null) as typeof form,
    form,
  );
  const hasName = type === "File";
  const hasMediaType = hasName || type === "Blob";
  const bytes = typeof base64 === "string" ? attempt(() => fromBase64(base64)) : undefined;
  const fits =
    (mediaType === undefined || (hasMediaType && typeof mediaType === "string")) &&
    (hasName ? typeof fileName === "string" : fileName === undefined) &&
    (lastModified === undefined || (hasName && Number.isFinite(lastModified)));
  if (bytes === undefined || !fits) return undefined;
  const options = { type: mediaType as string, lastModified: lastModified as number };
  if (hasName) return new File([bytes], fileName as string, options);
  if (hasMediaType) return new Blob([bytes], options);
  if (type === "ArrayBuffer") return bytes.buffer;
  const Type = views.get(type as string);
  const size = (Type as { BYTES_PER_ELEMENT?: number } | undefined)?.BYTES_PER_ELEMENT ?? 1;
  return Type && bytes.length % size === 0 ? new Type(bytes.buffer) : undefined;
}

/** The part of Node's `Buffer` that we use. No other platform has it. */
interface NodeBuffer {
  from(buffer: ArrayBufferLike, offset: number, length: number): NodeBytes;
  from(text: string, encoding: "base64"): NodeBytes;
  byteLength(text: string, encoding: "base64"): number;
}

interface NodeBytes extends Uint8Array {
  toString(encoding?: "base64"): string;
}

/**
 * Base64 text, natively where the runtime can. `Buffer` is for older Nodes: it's twenty times as
 * fast as the loop for older browsers.
 */
export function toBase64(bytes: Uint8Array & { toBase64?: () => string }): string {
  if (bytes.toBase64) return bytes.toBase64();
  const { Buffer } = globalThis as { Buffer?: NodeBuffer };
  if (Buffer)
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/** Reads a Blob's base64 text while the walk goes on. */
export function readBlob(
  blob: Blob,
  walk: { readonly pending: Promise<void>[] },
  take: (base64: string) => void,
): void {
  walk.pending.push(blob.arrayBuffer().then((buffer) => take(toBase64(new Uint8Array(buffer)))));
}

/**
 * Adds the members of a Binary form for a Blob or File to `form`. The bytes are there once the
 * walk's pending promises have resolved.
 */
export function fillBlobForm(
  form: object,
  blob: Blob,
  walk: { readonly pending: Promise<void>[] },
): object {
  const file = isFile(blob) && { fileName: blob.name, lastModified: blob.lastModified };
  Object.assign(form, { type: file ? "File" : "Blob", mediaType: blob.type, ...file });
  readBlob(blob, walk, (base64) => Object.assign(form, { base64 }));
  return form;
}

/**
 * The Binary form of a Blob or File, for results. A FormData has none. A number that no data has
 * stands for the bytes, until {@link withBytes} puts them in its place.
 */
export function binaryForm(
  value: object,
  walk: { readonly pending: Promise<void>[]; late?: Map<string, object> },
): object | undefined {
  if (!isBlob(value)) return undefined;
  const form = fillBlobForm({ serialized: true, name: "Binary" }, value, walk);
  const base64 = Math.random();
  (walk.late ??= new Map()).set(String(base64), form);
  return { ...form, base64 };
}

/** The text with the bytes of such forms, once they're all there. */
export function withBytes(text: string, late: ReadonlyMap<string, object> | undefined): string {
  return text.replace(/"base64":([\d.e-]+)/g, (found, number: string) => {
    const form = late?.get(number) as { readonly base64: string } | undefined;
    return form === undefined ? found : `"base64":"${form.base64}"`;
  });
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = Uint8Array as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };
  if (native.fromBase64) return native.fromBase64(text);
  const { Buffer } = globalThis as { Buffer?: NodeBuffer };
  const quick = Buffer?.from(text, "base64");
  // Buffer skips characters that aren't base64, and accepts `-` and `_`. The copy has memory of its own.
  if (
    quick &&
    quick.length === Buffer?.byteLength(text, "base64") &&
    text.length % 4 === 0 &&
    !text.includes("-") &&
    !text.includes("_")
  )
    return new Uint8Array(quick);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < bytes.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
