// A picture of how figures grow, in the reader's light or dark colours.

const width = 720;
const height = 320;
const left = 60;
const right = 150;
const top = 20;
const bottom = 40;

/**
 * Curves over numbers of things; both axes are logarithmic.
 * @param {{ name: string, points: [number, number][] }[]} curves
 */
export function chart(curves) {
  const all = curves.flatMap(({ points }) => points);
  const xs = [...new Set(all.map(([x]) => x))].toSorted((a, b) => a - b);
  const [first = 1, last = 1] = [xs[0], xs.at(-1)];
  const most = Math.max(2, ...all.map(([, y]) => y));
  const least = Math.min(1, ...all.map(([, y]) => y));
  const share = (/** @type {number} */ value, from, to) =>
    Math.log(value / from) / Math.log(to / from);
  const xOf = (value) => left + share(value, first, last) * (width - left - right);
  const yOf = (value) => height - bottom - share(value, least, most) * (height - top - bottom);
  const place = (value) => value.toFixed(1);
  const marks = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000].filter(
    (mark) => mark >= least && mark <= most,
  );
  const lines = [
    ...marks.map(
      (mark) =>
        `<path class="grid" d="M${left} ${place(yOf(mark))}H${width - right}"/><text x="${left - 8}" y="${place(yOf(mark) + 4)}" text-anchor="end">${mark} ×</text>`,
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
  const colours = ["#1f6f54", "#b4552d", "#3b62a8", "#8a6d1d", "#7a4a8c"];
  const dark = ["#5fc79d", "#f0946b", "#8fb2f0", "#e0bd5a", "#c99bdb"];
  const styles = (list) =>
    list.map((colour, at) => `.s${at}{stroke:${colour}}.c${at}{fill:${colour}}`).join("");
  const words = curves
    .map(({ name, points }) => `${name}: ${(points.at(-1)?.[1] ?? 1).toFixed(1)} times`)
    .join("; ");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title description">
<title id="title">Cost by the number of procedures</title>
<desc id="description">With ${last.toLocaleString("en")} instead of ${first.toLocaleString("en")}: ${words}.</desc>
<style>text{font:13px system-ui,sans-serif;fill:#444}.grid{stroke:#8886;fill:none}.curve{fill:none;stroke-width:2.5;stroke-linejoin:round}${styles(colours)}@media (prefers-color-scheme: dark){text{fill:#bbb}${styles(dark)}}</style>
${lines.join("\n")}
</svg>
`;
}
