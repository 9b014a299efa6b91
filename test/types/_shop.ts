// A module of an application, as its users have it: nothing here is ever run.

import type { Context, MaybeContext } from "seamline";

export class Money {
  readonly amount: number;
  constructor(amount: number) {
    this.amount = amount;
  }
}

export interface Quote {
  readonly price: Money;
  readonly until: Date;
}

export async function quote(cloth: string, metres = 1): Promise<Quote> {
  return { price: new Money(cloth.length * metres), until: new Date() };
}

/** It returns a promise either way. */
export async function largest<Item>(first: Item, ...others: Item[]): Promise<Item> {
  return others.at(-1) ?? first;
}

// oxlint-disable oxc/no-this-in-exported-function -- it is how a procedure finds its context
export async function whoAmI(this: Context, greeting: string): Promise<string> {
  return `${greeting} ${this.headers.get("x-user")}`;
}

/** The context is there in every call that the runtime makes, and a caller doesn't need one to call it. */
export async function language(this: Context | void): Promise<string | undefined> {
  return this?.headers.get("accept-language");
}

/** It may be called as a member of a namespace as well. */
export async function region(this: MaybeContext, otherwise: string): Promise<string> {
  return this?.headers?.get("x-region") ?? otherwise;
}

// oxlint-disable-next-line import/no-default-export -- a procedure like any other
export default async ({ sku, count = 1 }: { sku: string; count?: number }): Promise<number> =>
  sku.length * count;

export async function* prices(cloth: string, metres = 1): AsyncGenerator<Money, number> {
  yield new Money(cloth.length);
  return metres;
}

export const units = ["m", "yd"] as const;

export function notAsync(cloth: string): number {
  return cloth.length;
}
