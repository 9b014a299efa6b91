import { Money } from "./money.ts";

// A cloth has a price, so the module of its class goes wherever cloths go.
export { Money };

const seasons = ["Winter", "Spring", "Summer", "Autumn"] as const;

/** A cloth of the catalogue. Its private fields, date and map arrive intact on either side. */
export class Cloth {
  readonly #sku: string;
  readonly #name: string;
  readonly #colourway: string;
  readonly #price: Money;
  readonly #arrived: Date;
  readonly #attributes: Map<string, string>;

  constructor(
    sku: string,
    name: string,
    colourway: string,
    price: Money,
    arrived: Date,
    attributes: Map<string, string>,
  ) {
    this.#sku = sku;
    this.#name = name;
    this.#colourway = colourway;
    this.#price = price;
    this.#arrived = arrived;
    this.#attributes = attributes;
  }

  get sku(): string {
    return this.#sku;
  }

  get name(): string {
    return this.#name;
  }

  get colourway(): string {
    return this.#colourway;
  }

  /** For one metre. */
  get price(): Money {
    return this.#price;
  }

  get arrived(): Date {
    return this.#arrived;
  }

  get attributes(): Map<string, string> {
    return this.#attributes;
  }

  season(): string {
    return `${seasons[Math.floor(((this.#arrived.getUTCMonth() + 1) % 12) / 3)] ?? "Winter"} ${this.#arrived.getUTCFullYear()}`;
  }
}
