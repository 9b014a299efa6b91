// Dates as ISO text, and back, by arithmetic. For the usual years that takes a fraction of the time that
// the platform's own functions do, which serve every year and format.

const dayMs = 86_400_000;
const getTime = Date.prototype.getTime;

/** What a Date's own `toJSON` returns, whatever a class that extends it says. */
export function quickIsoOf(date: Date): string | null {
  const time = getTime.call(date);
  // From 1000 to 9999.
  if (!(time >= -30_610_224_000_000 && time < 253_402_300_800_000)) return new Date(date).toJSON();
  const days = Math.floor(time / dayMs);
  let rest = time - days * dayMs;
  // Days since March 1 of the year 0, in eras of 400 years (as in `days_from_civil` of C++'s chrono,
  // http://howardhinnant.github.io/date_algorithms.html).
  const since = days + 719_468;
  const era = (since / 146_097) | 0;
  const dayOfEra = since - era * 146_097;
  const yearOfEra =
    ((dayOfEra - ((dayOfEra / 1460) | 0) + ((dayOfEra / 36_524) | 0) - ((dayOfEra / 146_096) | 0)) /
      365) |
    0;
  const dayOfYear = dayOfEra - (365 * yearOfEra + (yearOfEra >> 2) - ((yearOfEra / 100) | 0));
  const shifted = ((5 * dayOfYear + 2) / 153) | 0;
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const hours = (rest / 3_600_000) | 0;
  rest -= hours * 3_600_000;
  const minutes = (rest / 60_000) | 0;
  rest -= minutes * 60_000;
  const seconds = (rest / 1000) | 0;
  const ms = rest - seconds * 1000;
  return `${year}-${two[month]}-${two[dayOfYear - (((153 * shifted + 2) / 5) | 0) + 1]}T${two[hours]}:${two[minutes]}:${two[seconds]}.${ms < 100 ? "0" : ""}${ms < 10 ? "0" : ""}${ms}Z`;
}

const two = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, "0"));

/** The date of such text; `undefined` for other text, which may be a date, too. */
export function quickDateFrom(text: string): Date | undefined {
  const year = numberAt(text, 0, 4);
  const month = numberAt(text, 5, 7);
  const day = numberAt(text, 8, 10);
  const hours = numberAt(text, 11, 13);
  const minutes = numberAt(text, 14, 16);
  const seconds = numberAt(text, 17, 19);
  const ms = numberAt(text, 20, 23);
  if (
    text.length === 24 &&
    // Years below 100 would be of the last century.
    year >= 100 &&
    month > 0 &&
    month <= 12 &&
    day > 0 &&
    hours < 24 &&
    minutes < 60 &&
    seconds < 60 &&
    ms >= 0 &&
    text.charCodeAt(4) === dash &&
    text.charCodeAt(7) === dash &&
    text.charCodeAt(10) === 0x54 &&
    text.charCodeAt(13) === colon &&
    text.charCodeAt(16) === colon &&
    text.charCodeAt(19) === 0x2e &&
    text.charCodeAt(23) === 0x5a
  ) {
    const date = new Date(Date.UTC(year, month - 1, day, hours, minutes, seconds, ms));
    // A day past the month's end would be one of the next month.
    if (day <= 28 || date.getUTCDate() === day) return date;
  }
  return undefined;
}

const dash = 0x2d;
const colon = 0x3a;

/** The digits from `start` to `end`; NaN if there are others. */
function numberAt(text: string, start: number, end: number): number {
  let number = 0;
  for (let index = start; index < end; index++) {
    const digit = text.charCodeAt(index) - 0x30;
    number = digit >= 0 && digit <= 9 ? number * 10 + digit : NaN;
  }
  return number;
}
