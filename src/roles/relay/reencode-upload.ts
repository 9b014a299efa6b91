// Encodes a call with files again if middleware has changed its arguments.

import type { Args } from "../../base/call.ts";
import type { ClassTable } from "../../codec/class-table.ts";
import { writeMultipart, writeUpload } from "../../codec/multipart/write-multipart.ts";
import { encodeArguments } from "../../codec/serialized.ts";
import type { CallArguments } from "../../wire/decode-call.ts";
import { withClasses } from "../../wire/outgoing/remote-codec.ts";
import { postOf, type ReencodedCall, textOf, unfit } from "./reencode-call.ts";
import type { Exchange } from "../../wire/exchange.ts";

/** As `reencodeCall`, for a call that came as multipart/form-data. */
export async function reencodeUpload(
  exchange: Exchange,
  received: CallArguments,
  args: Args,
  read: () => Args,
  classes: ClassTable,
): Promise<ReencodedCall | undefined> {
  const { encoding } = exchange;
  const original = read();
  // Parts that belong to instances which this service doesn't open.
  const passedOn =
    encoding === "plain"
      ? []
      : received.parts
          .slice(1)
          .filter(({ file }) => file === undefined)
          .map(({ name, bytes }) => [name, new Blob([bytes])] as const);
  const written = async (values: Args): Promise<ReturnType<typeof writeUpload>> =>
    await withClasses(classes, new Map(values), (taken) =>
      writeUpload(encodeArguments(taken, { classes, trusted: true }), passedOn),
    );
  const changed = await written(args);
  const before = await written(original);
  if (
    changed.text === before.text &&
    changed.files.length === before.files.length &&
    changed.files.every((file, index) => file === before.files.at(index))
  )
    return undefined;
  // Without the application's manifest, this service doesn't know the types of a form's fields.
  return encoding === "plain" && classes.passOn !== undefined
    ? await postOf(exchange, writeMultipart(fieldsOf(args)), encoding)
    : await postOf(exchange, changed.body, encoding === "plain" ? "serialized" : encoding);
}

/** The arguments as the fields of a form. Throws ValueNotSerializable if none can stand for one. */
function fieldsOf(args: Args): [string, string | Blob, string?][] {
  return [...args].flatMap(([name, value]) => {
    // An empty list would add no field.
    if (Array.isArray(value) && value.length === 0) throw unfit(name, "form");
    return (Array.isArray(value) ? (value as unknown[]) : [value]).map(
      (item): [string, string | Blob, string?] => {
        if (item instanceof File) return [name, item, item.name];
        const text = item instanceof Blob ? item : textOf(item);
        if (text === undefined) throw unfit(name, "form");
        return [name, text];
      },
    );
  });
}
