// Writes multipart/form-data as a Blob: a browser streams the files in it from disk when it sends
// it, and its length is known. Loaded with the first call that has files.

import { isFile } from "../values/binary.ts";
import { Fault, isForbidden, notSerializable } from "../values/fault.ts";
import type { Attachment, Upload } from "../serialized.ts";

/**
 * A call with files: its arguments as the part `args`, then a part for each file. `passedOn` are
 * parts that forms in the arguments refer to by name already. Throws ValueNotSerializable.
 */
export function writeUpload(
  upload: Upload,
  passedOn: readonly (readonly [string, Blob])[] = [],
): WrittenUpload {
  const used = new Set(passedOn.map(([name]) => name));
  const files: [string, Blob][] = [];
  const attach = (file: Blob): object => {
    let part = `f${files.length}`;
    while (used.has(part)) part = `${part}_`;
    files.push([part, file]);
    return {
      serialized: true,
      name: isFile(file) ? "File" : "Blob",
      part,
      mediaType: file.type,
      ...(isFile(file) && { fileName: file.name, lastModified: file.lastModified }),
    };
  };
  const forms = new Map(
    upload.attachments.map(([placeholder, content]) => [
      JSON.stringify({ serialized: placeholder }),
      Array.isArray(content)
        ? { serialized: true, name: "FormData", entries: entriesOf(content, attach) }
        : attach(content as Blob),
    ]),
  );
  const text = upload.text.replace(/\{"serialized":[\d.e-]+\}/g, (found) => {
    const form = forms.get(found);
    return form === undefined ? found : JSON.stringify(form);
  });
  const kept = passedOn.filter(([name]) => text.includes(`"part":${JSON.stringify(name)}`));
  const parts = [...files, ...kept];
  return {
    text,
    files: parts.map(([, file]) => file),
    body: writeMultipart([["args", text], ...parts]),
  };
}

/** The files of another realm as files of this one, which can be parts of a body. */
export async function ownFiles({ text, attachments }: Upload): Promise<Upload> {
  const own = await Promise.all(
    attachments.map(async ([placeholder, content]): Promise<Attachment> => [
      placeholder,
      Array.isArray(content)
        ? await Promise.all(
            (content as Exclude<Attachment[1], Blob>).map(
              async ([name, value]): Promise<readonly [string, string | File]> => [
                name,
                typeof value === "string" ? value : ((await ownFile(value)) as File),
              ],
            ),
          )
        : await ownFile(content as Blob),
    ]),
  );
  return { text, attachments: own };
}

async function ownFile(file: Blob): Promise<Blob> {
  const isOwn: boolean = file instanceof Blob;
  if (isOwn) return file;
  const bytes = [await file.arrayBuffer()];
  const { type } = file;
  return isFile(file)
    ? new File(bytes, file.name, { type, lastModified: file.lastModified })
    : new Blob(bytes, { type });
}

export interface WrittenUpload {
  /** Arguments and files, to compare two uploads without reading them. */
  readonly text: string;
  readonly files: readonly Blob[];
  readonly body: Blob;
}

function entriesOf(
  entries: Exclude<Attachment[1], Blob>,
  attach: (file: Blob) => object,
): unknown[] {
  return entries.map(([name, value]) => {
    if (isForbidden(name))
      throw notSerializable(new Fault(`no receiver takes the form field '${name}'`), "args");
    return [name, typeof value === "string" ? value : attach(value)];
  });
}

/**
 * The fields and files as a body; its type names the boundary. A file without a file name has that
 * of its field.
 */
export function writeMultipart(entries: Iterable<readonly [string, string | Blob, string?]>): Blob {
  // No file can contain a boundary that it can't guess. In lower case, as the type of a Blob is.
  const random = [...crypto.getRandomValues(new Uint8Array(16))];
  const boundary = `seamline-${random.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  const pieces: BlobPart[] = [];
  for (const [name, value, fileName = name] of entries) {
    const file =
      typeof value === "string"
        ? ""
        : `; filename="${escaped(fileName)}"\r\nContent-Type: ${headerType(value)}`;
    pieces.push(
      `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"${file}\r\n\r\n`,
      value,
      "\r\n",
    );
  }
  return new Blob([...pieces, `--${boundary}--\r\n`], {
    type: `multipart/form-data; boundary=${boundary}`,
  });
}

/** Escaped as the HTML standard says. A backslash would escape the next character. */
function escaped(text: string): string {
  return text.replace(/["\r\n]/g, encodeURIComponent).replaceAll("\\", "\\\\");
}

/** The type of a Blob may be any text. */
function headerType({ type }: Blob): string {
  return /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:;[ -~]*)?$/.test(type)
    ? type
    : "application/octet-stream";
}
