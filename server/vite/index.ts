// `seamline/vite`: the exports for an application's own Vite configuration.

export { type SeamlineOptions, seamline } from "./vite-plugin.ts";
