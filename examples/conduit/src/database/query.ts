import { Invalid } from "../errors.ts";
import { database } from "./database.ts";

export type Value = string | number | boolean | Date | Uint8Array | null | readonly string[];

/** The rows that one statement gives. Only the application's own code may call it. */
export async function query<Row>(sql: string, values: readonly Value[] = []): Promise<Row[]> {
  if (!values.every(isValue)) throw new Invalid({ value: ["is invalid"] });
  const { rows } = await database.query<Row>(sql, [...values]);
  return rows;
}

/** Callers may send anything for a parameter, and Postgres has no zero character. */
function isValue(value: unknown): boolean {
  if (typeof value === "string") return !value.includes("\0");
  if (Array.isArray(value)) return value.every((item) => typeof item === "string" && isValue(item));
  if (value === null || value instanceof Date || value instanceof Uint8Array) return true;
  return typeof value === "boolean" || Number.isFinite(value);
}
