// Checks header fields that application code sets.

/**
 * Returns the name in lower case. Checks on setting, not on sending, so that the error points to
 * the caller; a line break would start another header or the body.
 */
export function checkedHeader(name: unknown, value: unknown): string {
  if (typeof name !== "string" || !/^[-!#$%&'*+.^_`|~\w]+$/.test(name))
    throw new TypeError(`${JSON.stringify(name)} can't be the name of a header`);
  if (typeof value !== "string")
    throw new TypeError(
      `The value of the header '${name}' must be a string, not ${value === null ? "null" : typeof value}`,
    );
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
    throw new TypeError(
      `The value of the header '${name}' has a character that headers can't carry; encode it first`,
    );
  return name.toLowerCase();
}
