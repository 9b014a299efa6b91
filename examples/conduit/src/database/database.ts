// Postgres inside this process. A module of its own: an edit of a procedure doesn't open it anew.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { onStop } from "seamline";
import { schema } from "./schema.ts";
import { seed } from "./seed.ts";

const folder = process.env["CONDUIT_DATA"] ?? "data/conduit";
if (!folder.includes("://")) mkdirSync(dirname(folder), { recursive: true });

export const database = await PGlite.create(folder);
onStop(() => database.close());
await database.exec(schema);
if (process.env["CONDUIT_SEED"] !== "none") await seed(database);
