// How a Blob or File goes out as a plain answer. What a stranger has uploaded must not become a page of the application's origin.

import { mediaTypes } from "../protocol.ts";

// RFC 9110 §8.3.1. Anything may be a Blob's type, and not all of it can be a header.
const mediaType =
  /^([\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+)(\s*;\s*[\w!#$%&'*+.^`|~-]+=([\w!#$%&'*+.^`|~-]+|"([\t !#-[\]-~]|\\[\t -~])*"))*$/;

/** Types of which no browser makes a page that runs anything: all others are to be saved. An image of SVG may hold scripts. */
const harmless =
  /^(image\/(png|jpeg|gif|webp|avif)|(audio|video|font)\/.+|text\/plain|application\/octet-stream)$/i;

/** Characters of a name or type: longer ones would fill the answer's head, and no file system takes such a name. */
const mostCharacters = 255;

/** The headers that say what the bytes of `blob` are, and whether a browser may show them. */
export function blobHeaders(blob: Blob): Record<string, string> {
  const type = blob.type || mediaTypes.bytes;
  const [known, essence = ""] = type.length > mostCharacters ? [] : (mediaType.exec(type) ?? []);
  const fields = { "content-type": known ?? mediaTypes.bytes };
  if (blob instanceof File)
    return { ...fields, "content-disposition": `attachment${parameterOf(blob.name)}` };
  return harmless.test(essence) ? fields : { ...fields, "content-disposition": "attachment" };
}

/** The name as RFC 6266 and RFC 8187 write one of any characters. */
function parameterOf(name: string): string {
  if (name === "") return "";
  // Half of a pair is nothing that can be encoded.
  const whole = new TextDecoder().decode(new TextEncoder().encode(name.slice(0, mostCharacters)));
  const encoded = encodeURIComponent(whole).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `; filename*=UTF-8''${encoded}`;
}
