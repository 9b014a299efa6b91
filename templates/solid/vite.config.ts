import { seamline } from "seamline/vite";
import solid from "vite-plugin-solid";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [solid(), seamline()],
  // The tests are of functions. Without this, the plugin asks for the DOM of a browser.
  test: { environment: "node" },
});
