#!/usr/bin/env node
// `npm create seamline@latest my-app` is `seamline init my-app`, of the version that this package depends on.

process.argv.splice(2, 0, "init");
await import(new URL("dist/cli.js", import.meta.resolve("seamline/package.json")).href);
