function Members(this: object): void {}
Members.prototype = Object.create(null) as object;

/**
 * An object for members whose names come from others: it inherits none that they could meet. Reading, writing and
 * `JSON.stringify` are much faster than with an object without a prototype.
 */
export const NamedMembers = Members as unknown as new <Value>() => Record<string, Value>;
