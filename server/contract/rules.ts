// Rules for texts and numbers: those of one type that values of another type may break.

import type { TextRules, Type } from "../types/model.ts";

/** A rule of the second type that the first type doesn't imply. */
export interface NewRule {
  /** `at most 5 characters` */
  readonly text: string;
  /** Both types have a rule, and it can't be told which one is stricter. */
  readonly unclear?: true;
}

type NumberType = Type & { readonly kind: "number" };

export function newTextRules(from: TextRules, to: TextRules): NewRule[] {
  const rules: NewRule[] = [];
  if ((to.minLength ?? 0) > (from.minLength ?? 0))
    rules.push({ text: `text of at least ${characters(to.minLength!)}` });
  if ((to.maxLength ?? Infinity) < (from.maxLength ?? Infinity))
    rules.push({ text: `text of at most ${characters(to.maxLength!)}` });
  if (to.format !== undefined && to.format !== from.format)
    rules.push({ text: `text of the format '${to.format}'` });
  if (to.case !== undefined && to.case !== from.case && !impliedBy(from.case, to.case))
    rules.push({ text: `text of the case '${to.case}'` });
  if (to.pattern !== undefined && to.pattern !== from.pattern)
    rules.push({
      text: `text that matches ${to.pattern}`,
      ...(from.pattern !== undefined && { unclear: true }),
    });
  return rules;
}

function impliedBy(from: TextRules["case"], to: TextRules["case"]): boolean {
  return (from === "upper" && to === "capitalized") || (from === "lower" && to === "uncapitalized");
}

export function newBounds(from: NumberType, to: NumberType): NewRule[] {
  const rules: NewRule[] = [];
  if (to.int && !from.int) rules.push({ text: "whole numbers" });
  const [least, most] = [
    Math.max(from.min ?? -Infinity, from.int ? Number.MIN_SAFE_INTEGER : -Infinity),
    Math.min(from.max ?? Infinity, from.int ? Number.MAX_SAFE_INTEGER : Infinity),
  ];
  if (to.min !== undefined && to.min > least) rules.push({ text: `numbers of at least ${to.min}` });
  if (to.max !== undefined && to.max < most) rules.push({ text: `numbers of at most ${to.max}` });
  // A number without bounds may be NaN.
  const isFinite = from.int || from.min !== undefined || from.max !== undefined;
  if (!isFinite && rules.length === 0 && (to.min !== undefined || to.max !== undefined))
    rules.push({ text: "finite numbers" });
  return rules;
}

/** Whether each text of a template fits another template, judged part by part. */
export function fitsParts(
  from: readonly (string | Type)[],
  to: readonly (string | Type)[],
): boolean {
  return (
    from.length === to.length &&
    from.every((part, index) => {
      const other = to[index]!;
      if (typeof part === "string" || typeof other === "string") return part === other;
      const isFree = other.kind === "string" && Object.keys(other).length === 1;
      return isFree || JSON.stringify(part) === JSON.stringify(other);
    })
  );
}

function characters(count: number): string {
  return count === 1 ? "1 character" : `${count} characters`;
}
