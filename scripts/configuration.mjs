// `npm run configuration`: writes the committed files that are made from the configuration's schema.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { committedFiles } from "./json-schemas.mjs";
import { load } from "./typescript.mjs";

const root = join(import.meta.dirname, "..");

/** @type {import("./json-schemas.mjs").Module} */
const module = await load("server/config/json-schema.ts");
for (const [path, text] of Object.entries(committedFiles(module)))
  writeFileSync(join(root, path), text);
