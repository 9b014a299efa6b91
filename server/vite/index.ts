// `seamline/vite`: what an application's own Vite configuration needs.

export { type SeamlineOptions, seamline } from "./vite-plugin.ts";
