import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..");

function linesIn(folder: string, pattern: RegExp): number {
  const names = readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && pattern.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  return names.reduce((sum, name) => sum + readFileSync(name, "utf8").split("\n").length - 1, 0);
}

it("the README's numbers of lines are right within a tenth", () => {
  const code = /\.tsx?$/;
  const server = ["src/accounts", "src/articles", "src/social"];
  const counts = {
    "front end: components": linesIn("src/page", code),
    "front end: style": linesIn("src/page", /\.css$/),
    "procedures, types and schemas":
      server.reduce((sum, folder) => sum + linesIn(folder, code), 0) +
      ["errors.ts", "schemas.ts"].reduce(
        (sum, name) => sum + readFileSync(join(root, "src", name), "utf8").split("\n").length - 1,
        0,
      ),
    "HTTP API": linesIn("src/api", code),
    "database: schema, query, sample articles": linesIn("src/database", code),
    tests: linesIn("test", code),
  };
  const readme = readFileSync(join(root, "README.md"), "utf8");
  for (const [part, lines] of Object.entries(counts)) {
    const written = Number(new RegExp(`\\| ${part} \\| (\\d+) \\|`).exec(readme)?.[1]);
    expect(Math.abs(written - lines) / lines, `${part}: ${lines}`).toBeLessThan(0.1);
  }
});
