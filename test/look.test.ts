// One look for all pages: the values of client/look stand in copies where an application has to
// stand alone, and every colour of a text is legible on what it may stand on.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hasConsole } from "./_has-console.ts";
import { filesIn, root } from "./_sources.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** The custom properties that a style sheet declares for the whole page. */
function tokensOf(path: string): Map<string, string> {
  const [, block = ""] = /:root \{\n([\s\S]*?)\n\}/.exec(read(path)) ?? [];
  return new Map(
    Array.from(block.matchAll(/--([\w-]+):\s*([^;]+);/g), ([, name = "", value = ""]) => [
      name,
      value.replaceAll(/\s+/g, " "),
    ]),
  );
}

const tokens = tokensOf("client/look/tokens.css");
const colours = new Map(
  [...tokens].flatMap(([name, value]) => {
    const [, light, dark] = /^light-dark\((#\w{6}), (#\w{6})\)$/.exec(value) ?? [];
    return light === undefined || dark === undefined ? [] : [[name, { light, dark }] as const];
  }),
);

/** Applications that stand alone: where the values are copied to, and where they are used. */
const copies = [
  ["templates/base/src/style.css", "templates"],
  ["demo/src/page/style.css", "demo/src"],
  ["examples/conduit/src/page/style.css", "examples/conduit/src"],
] as const;

const consolePages = hasConsole ? ["console/page"] : [];

const stylesIn = (folder: string): string[] =>
  filesIn(folder).filter((path) => path.endsWith(".css"));

describe("tokens", () => {
  it.each(copies)("of %s are copies of those in client/look", (copy, folder) => {
    const own = tokensOf(copy);
    expect(Object.fromEntries(own)).toEqual(
      Object.fromEntries([...own.keys()].map((name) => [name, tokens.get(name)])),
    );
    const used = stylesIn(folder).flatMap((path) =>
      Array.from(read(path).matchAll(/var\(--([\w-]+)\)/g), ([, name = ""]) => name),
    );
    expect(used.filter((name) => tokens.has(name) && !own.has(name))).toEqual([]);
  });

  it("are where the colours of every page come from", () => {
    const found = [
      "client",
      ...consolePages,
      "docs/.vitepress/theme",
      ...copies.map(([, folder]) => folder),
    ]
      .flatMap(stylesIn)
      .filter((path) => path !== "client/look/tokens.css")
      .flatMap((path) =>
        [
          ...read(path)
            .replace(/:root \{[^}]*\}/, "")
            .matchAll(/#[0-9a-f]{6}\b/gi),
        ].map(([colour]) => `${path}: ${colour}`),
      );
    expect(found).toEqual([]);
  });

  it("have every colour of the drawings and of the icon", () => {
    const known = new Set(["#fff", ...[...colours.values()].flatMap(Object.values)]);
    const drawn = ["client/look/icon.svg", ...filesIn("docs/images")]
      .filter((path) => path.endsWith(".svg"))
      .flatMap((path) =>
        [...read(path).matchAll(/#[0-9a-f]{3,8}\b/gi)]
          .map(([colour]) => colour)
          .filter((colour) => !known.has(colour))
          .map((colour) => `${path}: ${colour}`),
      );
    expect(drawn).toEqual([]);
  });
});

/** As WCAG computes it. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(first: string, second: string, scheme: "light" | "dark"): number {
  const [a, b] = [first, second].map((name) => luminance(colours.get(name)![scheme]));
  return (Math.max(a!, b!) + 0.05) / (Math.min(a!, b!) + 0.05);
}

describe.each(["light", "dark"] as const)("contrast in %s colours", (scheme) => {
  const grounds = ["paper", "card", "raised"];
  const texts = ["ink", "muted", "accent", "rust", "olive", "plum", "good", "warn", "bad"];
  const pairs = [
    ...grounds.flatMap((ground) => texts.map((text) => [text, ground] as const)),
    ...["good", "warn", "bad"].map((text) => [text, `${text}-soft`] as const),
    ...["accent", "rust", "olive", "plum"].map((ground) => ["on-accent", ground] as const),
  ];

  it("of each text is 4.5 or more", () => {
    expect(
      pairs
        .map(
          ([text, ground]) => `${text} on ${ground}: ${contrast(text, ground, scheme).toFixed(2)}`,
        )
        .filter((line) => Number(line.split(": ")[1]) < 4.5),
    ).toEqual([]);
  });

  it("of the edge of a field or button is 3 or more", () => {
    expect(
      grounds
        .map((ground) => `${ground}: ${contrast("edge", ground, scheme).toFixed(2)}`)
        .filter((line) => Number(line.split(": ")[1]) < 3),
    ).toEqual([]);
  });
});

describe("pages", () => {
  const documents = [
    ...consolePages.map((folder) => `${folder}/index.html`),
    "demo/index.html",
    "examples/conduit/index.html",
    ...filesIn("templates").filter((path) => path.endsWith("index.html")),
  ];

  it.each(documents)("%s has a language, an icon, and fits phones and dark rooms", (path) => {
    const page = read(path);
    expect(page).toContain('<html lang="en">');
    expect(page).toContain(
      '<meta name="viewport" content="width=device-width, initial-scale=1" />',
    );
    expect(page).toContain('<meta name="color-scheme" content="light dark" />');
    expect(page).toMatch(/<link rel="icon" href="[\w/]+\/icon\.svg" type="image\/svg\+xml" \/>/);
  });

  it("have the same icon", () => {
    const icon = read("client/look/icon.svg");
    for (const path of [
      "docs/public/icon.svg",
      "demo/src/page/icon.svg",
      "examples/conduit/src/page/icon.svg",
      "templates/base/src/icon.svg",
    ])
      expect(read(path), path).toBe(icon);
  });
});
