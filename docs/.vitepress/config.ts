// The documentation as a site: `npm run docs` builds it into docs/.vitepress/dist, `npm run docs -- --serve` serves it while you write.

import { defineConfig } from "vitepress";
import { captions } from "./captions.ts";
import { emptyHeads } from "./empty-heads.ts";
import { outsideLinks } from "./outside-links.ts";
import { sidebar } from "./sidebar.ts";

const slugify = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .trim()
    .replaceAll(" ", "-");

export default defineConfig({
  title: "Seamline",
  description: "Write one TypeScript application; segment files say where it runs",
  lang: "en",
  cleanUrls: true,
  // The list of documents is what a reader of the repository sees first; the site begins with a page of its own.
  rewrites: { "README.md": "documents.md", "decisions/README.md": "decisions/index.md" },
  // Nothing on a page comes from elsewhere.
  head: [
    ["meta", { name: "referrer", content: "no-referrer" }],
    ["link", { rel: "icon", href: "/icon.svg", type: "image/svg+xml" }],
  ],
  markdown: {
    // The usual ones have comments and names that are hard to read on our cards.
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    languageAlias: { svg: "xml" },
    // As repository hosts make them, so that a link leads to the same heading in both.
    anchor: { slugify },
    config(md) {
      md.use(captions);
      md.use(outsideLinks);
      md.use(emptyHeads);
    },
  },
  // The index of the search is one file.
  vite: { build: { chunkSizeWarningLimit: 1_000 } },
  themeConfig: {
    logo: { src: "/icon.svg", alt: "" },
    nav: [
      { text: "Guide", link: "/guide/getting-started" },
      { text: "Reference", link: "/reference/configuration" },
      { text: "All pages", link: "/documents" },
    ],
    sidebar,
    outline: [2, 3],
    search: { provider: "local" },
  },
});
