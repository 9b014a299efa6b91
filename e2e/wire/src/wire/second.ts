import { third } from "./wire.ts";

export async function second(how: string): Promise<unknown> {
  return await third(how);
}
