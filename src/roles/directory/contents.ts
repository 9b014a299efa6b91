// The contents of entries in the directory, and their checks. A signature proves that a service of this deployment
// wrote an entry, but not that it is valid: the service may be of another release.

import type { ListName } from "./shared-lists.ts";
import { parsedUrl } from "../../base/url.ts";

/** A gateway that can be dialled. */
export interface GatewayContent {
  /** Scheme, host and port. */
  readonly url: string;
}

/** A node, as it describes itself. */
export interface MemberContent {
  readonly url: string;
  readonly name?: string;
  /** The result of its application's health checks. */
  readonly isHealthy: boolean;
  /** The procedures that it takes calls for. */
  readonly list: ListName;
}

type Fields = Readonly<Record<string, unknown>>;

export function readGateway(content: unknown): GatewayContent {
  return { url: urlOf(fieldsOf(content)) };
}

export function readMember(content: unknown): MemberContent {
  const fields = fieldsOf(content);
  const { name, isHealthy } = fields;
  const { digest, bytes } = fieldsOf(fields["list"]);
  if (name !== undefined && (typeof name !== "string" || name === "" || name.length > 64))
    throw new Error("its 'name' isn't a text of 1 to 64 characters");
  if (typeof isHealthy !== "boolean") throw new Error("its 'isHealthy' isn't true or false");
  if (typeof digest !== "string" || !/^[\da-f]{64}$/.test(digest))
    throw new Error("the 'digest' of its list isn't a SHA-256 in hex");
  if (!Number.isSafeInteger(bytes) || (bytes as number) < 0)
    throw new Error("the 'bytes' of its list aren't a number");
  return {
    url: urlOf(fields),
    ...(name !== undefined && { name }),
    isHealthy,
    list: { digest, bytes: bytes as number },
  };
}

function fieldsOf(value: unknown): Fields {
  if (typeof value !== "object" || value === null) throw new Error("it isn't an object");
  return value as Fields;
}

/** An address as in a configuration. It is dialled, so it may contain nothing else. */
function urlOf({ url }: Fields): string {
  const parsed = typeof url === "string" && url.length <= 300 ? parsedUrl(url) : undefined;
  if (parsed === undefined) throw new Error("its 'url' isn't an address");
  const { protocol, origin } = parsed;
  if (!/^https?:$/.test(protocol) || origin !== url)
    throw new Error("its 'url' isn't the address of a service, such as http://10.0.0.7:3000");
  return url;
}
