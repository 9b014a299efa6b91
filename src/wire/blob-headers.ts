// The headers of a Blob or File in a plain answer. A file that a stranger has uploaded must not become a page of
// the application's origin.

import { mediaTypes } from "../base/protocol.ts";
import { isFile } from "../codec/values/binary.ts";

// RFC 9110 §8.3.1. The type of a Blob may be any text, which a header may not be able to hold.
const mediaType =
  /^([\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+)(\s*;\s*[\w!#$%&'*+.^`|~-]+=([\w!#$%&'*+.^`|~-]+|"([\t !#-[\]-~]|\\[\t -~])*"))*$/;

/**
 * Types that browsers don't run scripts of; others are offered for download. SVG is not among them, as it may
 * contain scripts.
 */
const harmless =
  /^(image\/(png|jpeg|gif|webp|avif)|(audio|video|font)\/.+|text\/plain|application\/octet-stream)$/i;

/**
 * Characters of a name or type. More would fill the response's head, and no file system takes more.
 */
const maxCharacters = 255;

/** The headers for the bytes of `blob`: their type, and whether a browser may show them. */
export function blobHeaders(blob: Blob): Record<string, string> {
  const type = blob.type || mediaTypes.bytes;
  const [validType, essence = ""] = type.length > maxCharacters ? [] : (mediaType.exec(type) ?? []);
  const fields = { "content-type": validType ?? mediaTypes.bytes };
  if (isFile(blob))
    return { ...fields, "content-disposition": `attachment${parameterOf(blob.name)}` };
  return harmless.test(essence) ? fields : { ...fields, "content-disposition": "attachment" };
}

/** The file name as RFC 6266 and RFC 8187 encode names of any characters. */
function parameterOf(name: string): string {
  if (name === "") return "";
  // Half of a surrogate pair can't be encoded.
  const wellFormed = new TextDecoder().decode(
    new TextEncoder().encode(name.slice(0, maxCharacters)),
  );
  const encoded = encodeURIComponent(wellFormed).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `; filename*=UTF-8''${encoded}`;
}
