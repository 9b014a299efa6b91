// Small changes of a regular expression: anchors, quantifiers, classes, flags.

/**
 * @param {string} literal With its slashes and flags.
 * @returns {string[]}
 */
export function regexVariants(literal) {
  const end = literal.lastIndexOf("/");
  const source = literal.slice(1, end);
  const flags = literal.slice(end + 1);
  /** @type {[string, string][]} */
  const variants = flags.split("").map((flag) => [source, flags.replace(flag, "")]);
  let inClass = false;
  for (let at = 0; at < source.length; at++) {
    const rest = source.slice(at);
    /** @type {(length: number, text: string) => void} */
    const replace = (length, text) =>
      void variants.push([source.slice(0, at) + text + source.slice(at + length), flags]);
    const escape = /^\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|.)/s.exec(rest)?.[0];
    if (escape !== undefined) {
      if (/^\\[dDwWsSbB]$/.test(escape)) {
        const letter = escape.slice(1);
        replace(
          2,
          `\\${letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()}`,
        );
      }
      at += escape.length - 1;
    } else if (inClass) {
      if (rest.startsWith("]")) inClass = false;
    } else if (rest.startsWith("[")) {
      inClass = true;
      if (rest.startsWith("[^")) replace(2, "[");
      else replace(1, "[^");
    } else if (/^[$^]/.test(rest)) replace(1, "");
    else if (/^\(\?<?[=!]/.test(rest)) {
      const mark = /** @type {string} */ (/^\(\?<?[=!]/.exec(rest)?.[0]);
      replace(mark.length, mark.endsWith("=") ? mark.replace("=", "!") : mark.replace("!", "="));
      at += mark.length - 1;
    } else if (rest.startsWith("(?")) at += 1;
    else {
      const quantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\})/.exec(rest)?.[0];
      if (quantifier === undefined) continue;
      replace(quantifier.length, quantifier === "+" ? "*" : quantifier === "*" ? "+" : "");
      at += quantifier.length - 1;
    }
  }
  return variants
    .filter(([text, marks]) => isValid(text, marks))
    .map((each) => `/${each.join("/")}`);
}

/**
 * @param {string} source
 * @param {string} flags
 */
function isValid(source, flags) {
  try {
    return source !== "" && new RegExp(source, flags) instanceof RegExp;
  } catch {
    // Some changes make an invalid expression, such as `(?`.
    return false;
  }
}
