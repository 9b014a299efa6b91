// The matcher of globs, in a module of its own: services without `assets` don't load it.

export { default as picomatch } from "picomatch";
