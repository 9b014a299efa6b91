import { BadRequest, NotFound } from "seamline";

/** There is no cloth with this number. */
export class UnknownCloth extends NotFound {
  override readonly name: string = "UnknownCloth";
  readonly sku: string;

  constructor(sku: string) {
    super(`There is no cloth ${sku}`);
    this.sku = sku;
  }
}

/**
 * The roll is too short for the order. The page recognises it by `instanceof` and reads its fields.
 */
export class OutOfStock extends BadRequest {
  override readonly name: string = "OutOfStock";
  readonly sku: string;
  readonly wanted: number;
  readonly left: number;

  constructor(sku: string, wanted: number, left: number) {
    super(left === 0 ? `${sku} is sold out` : `${sku} has ${left} m left, not ${wanted} m`);
    this.sku = sku;
    this.wanted = wanted;
    this.left = left;
  }
}
