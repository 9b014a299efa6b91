// A picture of how figures grow, in the reader's light or dark colours.

import { digits } from "./report.mjs";

const width = 720;
const height = 320;
const left = 84;
const right = 160;
const top = 20;
const bottom = 40;

/**
 * Curves over numbers of things (`of`), and the unit of their figures.
 * @typedef {{ title: string, unit: string, of: string, curves: { name: string, points: [number, number][] }[] }} Picture
 */

/** 1, 2, 5, 10, … @param {number} from @param {number} to */
function steps(from, to) {
  const marks = [];
  for (let power = Math.floor(Math.log10(from)); 10 ** power <= to; power++)
    for (const digit of [1, 2, 5]) {
      const mark = Number((digit * 10 ** power).toPrecision(1));
      if (mark >= from && mark <= to) marks.push(mark);
    }
  return marks;
}

/**
 * Curves over numbers of things; both axes are logarithmic.
 * @param {Picture} picture
 */
export function chart({ title, unit, of, curves }) {
  const all = curves.flatMap(({ points }) => points);
  const xs = [...new Set(all.map(([x]) => x))].toSorted((a, b) => a - b);
  const [first = 1, last = 1] = [xs[0], xs.at(-1)];
  // Half and twice at least, so that a flat line looks flat.
  const values = all.map(([, y]) => y);
  const middle = Math.sqrt(Math.max(...values) * Math.min(...values));
  const most = Math.max(2 * middle, ...values);
  const least = Math.min(middle / 2, ...values);
  const share = (/** @type {number} */ value, from, to) =>
    Math.log(value / from) / Math.log(to / from);
  const xOf = (value) => left + share(value, first, last) * (width - left - right);
  const yOf = (value) => height - bottom - share(value, least, most) * (height - top - bottom);
  const place = (value) => value.toFixed(1);
  const marks = steps(least, most);
  const lines = [
    ...marks.map(
      (mark) =>
        `<path class="grid" d="M${left} ${place(yOf(mark))}H${width - right}"/><text x="${left - 8}" y="${place(yOf(mark) + 4)}" text-anchor="end">${mark.toLocaleString("en")} ${unit}</text>`,
    ),
    ...xs.map(
      (x) =>
        `<text x="${place(xOf(x))}" y="${height - 14}" text-anchor="middle">${x.toLocaleString("en")}</text>`,
    ),
  ];
  // Labels that would lie on each other move apart.
  let above = Infinity;
  const ends = curves
    .map(({ name, points }, index) => ({ name, index, y: yOf(points.at(-1)?.[1] ?? 1) }))
    .toSorted((a, b) => b.y - a.y);
  for (const end of ends) above = end.y = Math.min(end.y, above - 16);
  for (const { name, index, y } of ends)
    lines.push(
      `<text class="c${index}" x="${width - right + 8}" y="${place(y + 4)}">${name}</text>`,
    );
  curves.forEach(({ points }, index) => {
    const path = points.map(([x, y]) => `${place(xOf(x))} ${place(yOf(y))}`).join("L");
    lines.push(`<path class="curve s${index}" d="M${path}"/>`);
  });
  // accent, rust, olive, warn and plum of client/look/tokens.css.
  const colours = ["#2c5597", "#a5432c", "#56651a", "#7a5200", "#6b5283"];
  const dark = ["#86abec", "#e78a70", "#afbe5d", "#e5b95c", "#c3a6df"];
  const styles = (list) =>
    list.map((colour, at) => `.s${at}{stroke:${colour}}.c${at}{fill:${colour}}`).join("");
  const words = curves
    .map(({ name, points: [[, before] = [0, 0], ...later] }) => {
      const [, after] = later.at(-1) ?? [0, before];
      return `${name}: ${digits(after)} ${unit} instead of ${digits(before)}`;
    })
    .join("; ");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title description">
<title id="title">${title}</title>
<desc id="description">With ${last.toLocaleString("en")} ${of} instead of ${first.toLocaleString("en")}: ${words}.</desc>
<style>text{font:13px system-ui,sans-serif;fill:#675e55}.grid{stroke:#dfd7ca;fill:none}.curve{fill:none;stroke-width:2.5;stroke-linejoin:round}${styles(colours)}@media (prefers-color-scheme: dark){text{fill:#b0a699}.grid{stroke:#38322c}${styles(dark)}}</style>
${lines.join("\n")}
</svg>
`;
}
