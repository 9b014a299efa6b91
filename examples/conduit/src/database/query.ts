import { Invalid } from "../errors.ts";
import { database } from "./database.ts";

export type Value = string | number | boolean | Date | Uint8Array | null | readonly string[];

/** The rows that one statement gives. Only the application's own code may call it. */
export async function query<Row>(sql: string, values: readonly Value[] = []): Promise<Row[]> {
  // Postgres has no zero character.
  if (values.flat().some((value) => typeof value === "string" && value.includes("\0")))
    throw new Invalid({ value: ["is invalid"] });
  const { rows } = await database.query<Row>(sql, [...values]);
  return rows;
}
