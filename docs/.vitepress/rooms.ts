// Pages of rooms stand beside their code, outside of the site's folder. `npm run docs` writes a copy of each.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

const root = join(import.meta.dirname, "../..");
const folders = ["src", "client", "console", "server"];

/** The page of the site for a file of the project, if it is the page of a room: `rooms/src-link` for `src/link/README.md`. */
export function roomPage(file: string): string | undefined {
  const [, folder = ""] = /^(.*)\/README\.md$/.exec(file) ?? [];
  return folders.includes(folder.split("/")[0] ?? "")
    ? `rooms/${folder.replaceAll("/", "-")}`
    : undefined;
}

/** Files of the project that are pages of rooms, in their order there. */
export const rooms: readonly string[] = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((file) => posix.join(folder, file.replaceAll("\\", "/")))
    .filter((file) => roomPage(file) !== undefined)
    .toSorted(),
);

/** The text of a room's page, with links that lead from `docs/rooms` to where they led before. */
export const textOf = (file: string): string =>
  readFileSync(join(root, file), "utf8").replaceAll(
    /\]\((?![a-z]+:|#)([^)\s]+)\)/g,
    (_, target: string) => `](${posix.relative("docs/rooms", posix.join(dirname(file), target))})`,
  );
