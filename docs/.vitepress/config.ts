// The documentation as a site: `npm run docs` builds it into docs/.vitepress/dist, `npm run docs -- --serve` serves it while you write.

import { defineConfig } from "vitepress";
import { captions } from "./captions.ts";
import { outsideLinks } from "./outside-links.ts";
import { sidebar } from "./sidebar.ts";

export default defineConfig({
  title: "Seamline",
  description: "Write one TypeScript application; segment files say where it runs",
  lang: "en",
  cleanUrls: true,
  // The list of documents is what a reader of the repository sees first as well.
  rewrites: { "README.md": "index.md", "decisions/README.md": "decisions/index.md" },
  // Nothing on a page comes from elsewhere.
  head: [
    ["meta", { name: "referrer", content: "no-referrer" }],
    ["link", { rel: "icon", href: "/icon.svg", type: "image/svg+xml" }],
  ],
  markdown: {
    languageAlias: { svg: "xml" },
    config(md) {
      md.use(captions);
      md.use(outsideLinks);
    },
  },
  themeConfig: {
    nav: [
      { text: "Guide", link: "/guide/getting-started" },
      { text: "Architecture", link: "/architecture" },
    ],
    sidebar,
    outline: [2, 3],
    search: { provider: "local" },
  },
});
