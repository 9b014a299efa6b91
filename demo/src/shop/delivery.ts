import { BadRequest } from "seamline";

const day = 86_400_000;

/** The working day on which `metres`, ordered on `from`, are delivered. */
export async function deliveryDay(from: Date, metres: number): Promise<Date> {
  if (!(from instanceof Date) || Number.isNaN(from.getTime()) || typeof metres !== "number")
    throw new BadRequest("A day is reckoned from a date and a number of metres");
  let working = metres > 20 ? 5 : metres > 5 ? 3 : 2; // long pieces are cut in the mill
  const date = new Date(Math.floor(from.getTime() / day) * day);
  while (working > 0) {
    date.setUTCDate(date.getUTCDate() + 1);
    if (date.getUTCDay() % 6 !== 0) working--;
  }
  return date;
}
