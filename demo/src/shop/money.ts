/** An amount in minor units, so that no sum is ever off by a cent. */
export class Money {
  readonly #cents: number;
  readonly #currency: string;

  constructor(cents: number, currency: string) {
    this.#cents = Math.round(cents);
    this.#currency = currency;
  }

  // Seamline rebuilds an instance on the other side from the getters that bear the constructor's
  // names.
  get cents(): number {
    return this.#cents;
  }

  get currency(): string {
    return this.#currency;
  }

  plus(other: Money): Money {
    return new Money(this.#cents + other.cents, this.#currency);
  }

  times(factor: number): Money {
    return new Money(this.#cents * factor, this.#currency);
  }

  text(): string {
    return new Intl.NumberFormat("en-GB", { style: "currency", currency: this.#currency }).format(
      this.#cents / 100,
    );
  }
}
