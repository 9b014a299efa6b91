// The values of a multipart call: the forms in its part `args` refer to the other parts.

import { BadRequest, PayloadTooLarge } from "../../base/errors.ts";
import { checkMembers } from "../decode.ts";
import type { Properties } from "../instance.ts";
import { Fault, faultAt, isForbidden } from "../values/fault.ts";
import type { Limits } from "../../base/limits.ts";
import { type Part, textOf } from "./parse-multipart.ts";

/** Name of the part that holds a call's arguments. */
const argsPart = "args";

/** The arguments' JSON text. Throws BadRequest, or PayloadTooLarge past the limit for JSON. */
export function argumentsText([first]: readonly Part[], { bodyBytes }: Limits): string {
  if (first?.name !== argsPart || first.fileName !== undefined)
    throw new BadRequest(
      `The first part of a multipart call in the serialized encoding must be '${argsPart}', its arguments as JSON`,
    );
  if (first.bytes.length > bodyBytes)
    throw new PayloadTooLarge(
      `The part '${argsPart}' is over the limit of ${bodyBytes} bytes (limit 'bodyBytes')`,
    );
  return textOf(first.bytes, () => new BadRequest(`The part '${argsPart}' is not UTF-8`));
}

/** Gives the forms of one message their parts. Each part belongs to exactly one form. */
export class PartReader {
  readonly #parts = new Map<string, Part>();
  readonly #taken = new Set<string>();

  /** Throws BadRequest if two parts have the same name. */
  constructor(parts: readonly Part[]) {
    for (const part of parts) {
      if (this.#parts.has(part.name))
        throw new BadRequest(`Two parts of the call are named '${shown(part.name)}'`);
      this.#parts.set(part.name, part);
    }
    this.#parts.delete(argsPart);
  }

  /** The value of a form. Throws a {@link Fault}, also if it refers to a missing part. */
  readonly read = (form: Properties): unknown => {
    switch (form["name"]) {
      case "File":
      case "Blob":
        return this.#fileOf(form);
      case "FormData": {
        checkMembers(form, "entries");
        const { entries } = form;
        if (!Array.isArray(entries)) throw new Fault("'entries' must be an array");
        try {
          return this.#formDataOf(entries as readonly unknown[]);
        } catch (thrown) {
          throw faultAt(thrown, "entries", form);
        }
      }
      default:
        throw unknownForm();
    }
  };

  /** Throws BadRequest if a part belongs to no form. */
  finish(): void {
    for (const name of this.#parts.keys())
      if (!this.#taken.has(name))
        throw new BadRequest(
          `The part '${shown(name)}' belongs to no File or Blob in '${argsPart}'`,
        );
  }

  #fileOf(form: Properties): Blob {
    const isFile = form["name"] === "File";
    checkMembers(form, "part", "mediaType", ...(isFile ? ["fileName", "lastModified"] : []));
    const { part: name, mediaType = "", fileName, lastModified } = form;
    const part = typeof name === "string" ? this.#parts.get(name) : undefined;
    if (part === undefined) throw new Fault(`there is no part '${shown(String(name))}'`);
    if (this.#taken.has(part.name))
      throw new Fault(`the part '${shown(part.name)}' belongs to another form already`);
    if (
      typeof mediaType !== "string" ||
      (isFile && typeof fileName !== "string") ||
      (lastModified !== undefined && !Number.isFinite(lastModified))
    )
      throw new Fault(`this is not a valid ${String(form["name"])} form`);
    this.#taken.add(part.name);
    return (part.file ??= isFile
      ? new File([part.bytes], fileName as string, {
          type: mediaType,
          ...(lastModified !== undefined && { lastModified: lastModified as number }),
        })
      : new Blob([part.bytes], { type: mediaType }));
  }

  #formDataOf(entries: readonly unknown[]): FormData {
    const data = new FormData();
    entries.forEach((entry, index) => {
      try {
        const [name, value] =
          Array.isArray(entry) && entry.length === 2 ? (entry as unknown[]) : [];
        if (typeof name !== "string")
          throw new Fault("an entry of a FormData form must be a list of name and value");
        if (isForbidden(name)) throw new Fault(`the field name '${name}' is not allowed`);
        if (typeof value === "string") data.append(name, value);
        else data.append(name, this.#fileOfEntry(value));
      } catch (thrown) {
        throw faultAt(thrown, index, entries);
      }
    });
    return data;
  }

  #fileOfEntry(value: unknown): Blob {
    const form = value as Properties | null | undefined;
    if (form?.["serialized"] !== true || form["name"] !== "File")
      throw new Fault("the value of a FormData entry must be text or a File form");
    return this.#fileOf(form);
  }
}

/** Refuses forms that refer to parts, in a message without parts. */
export function refuseParts({ name }: Properties): never {
  if (name === "File" || name === "Blob" || name === "FormData")
    throw new Fault(`a ${name} form needs a multipart/form-data call, with its bytes in a part`);
  throw unknownForm();
}

function unknownForm(): Fault {
  return new Fault("there is no serialized form of this name");
}

/**
 * The fields of a form that no service or page of ours sent, as `curl -F` does: text, or a File if
 * the part has a file name. Throws BadRequest, or PayloadTooLarge past the limit for text.
 */
export function fieldsOf(
  parts: readonly Part[],
  { bodyBytes }: Pick<Limits, "bodyBytes">,
): [string, string | File][] {
  let size = 0;
  return parts.map((part) => {
    const { name, fileName, bytes } = part;
    if (fileName !== undefined) {
      part.file ??= new File([bytes], fileName, { type: part.type || "text/plain" });
      return [name, part.file as File];
    }
    if ((size += bytes.length) > bodyBytes)
      throw new PayloadTooLarge(
        `The form's text is over the limit of ${bodyBytes} bytes (limit 'bodyBytes')`,
      );
    const notText = (): BadRequest =>
      new BadRequest(`The form field '${shown(name)}' is not UTF-8: give a file its file name`);
    return [name, textOf(bytes, notText)];
  });
}

function shown(name: string): string {
  return name.slice(0, 64);
}
