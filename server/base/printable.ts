// Text from elsewhere, as terminals and logs may show it.

/**
 * Characters that a terminal takes for a command (C0 except tabs and line breaks, DEL, C1), and characters that
 * make a line look like another one: separators of lines and paragraphs, and marks that change the direction of
 * text.
 */
const unprintable = /(?![\t\n])[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** The text of one entry of a log: its further lines are indented, so none of them looks like another entry. */
export const oneEntry = (text: string): string => printable(text).replaceAll(/\n(?!\n|$)/g, "\n  ");

/** The text with each such character as `\u001b`: JSON reads it as the same text. */
export function printable(text: string): string {
  return text.replaceAll(
    unprintable,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
