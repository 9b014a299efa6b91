import { env } from "node:process";
import { Forbidden } from "seamline";

/** The guard of orders: callers from outside meet it before their arguments are read. */
export async function takesOrders(): Promise<void> {
  if (env["SHOP_CLOSED"] === "1") throw new Forbidden("The shop is closed today");
}
