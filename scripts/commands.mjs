// Finds commands that tests need, or installs them from Debian's packages.
import { spawnSync } from "node:child_process";
import { delimiter } from "node:path";

// Debian has servers here, which isn't in every user's PATH.
process.env["PATH"] = `${process.env["PATH"] ?? ""}${delimiter}/usr/sbin`;

/** Other things that tests need: how to try each. @type {Readonly<Record<string, readonly string[]>>} */
const trials = { "OpenAPI::Client": ["perl", "-MOpenAPI::Client", "-e", "1"] };

/** @param {string} command */
function isThere(command) {
  const [program = "", ...words] = trials[command] ?? [command, "--version"];
  const { error, status } = spawnSync(program, words, { stdio: "ignore", timeout: 20_000 });
  return error === undefined && (status === 0 || trials[command] === undefined);
}

/**
 * Its output matters only if it fails, and then its last lines do.
 * @param {string} what
 * @param {string} command
 * @param {string[]} words
 * @param {Record<string, string>} environment
 * @param {number} timeout
 */
export function tryCommand(what, command, words, environment, timeout) {
  console.log(`${what}: ${command} ${words.join(" ")}`);
  const done = spawnSync(command, words, {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    encoding: "utf8",
    timeout,
    maxBuffer: 1e8,
  });
  if (done.status === 0) return;
  console.log(
    `${what}: that failed: ${(done.error?.message ?? done.stderr).trim().split("\n").slice(-3).join("; ")}`,
  );
}

/**
 * Debian's packages, installed as root or by sudo.
 * @param {string} what
 * @param {readonly string[]} packages
 */
export function aptInstall(what, packages) {
  const [program = "", ...first] =
    process.getuid?.() === 0 ? ["apt-get"] : ["sudo", "-n", "apt-get"];
  const apt = (/** @type {string[]} */ ...words) =>
    tryCommand(what, program, [...first, ...words], { DEBIAN_FRONTEND: "noninteractive" }, 400_000);
  apt("update");
  apt("install", "-y", "--no-install-recommends", ...packages);
}

/** Debian's packages of commands with another name. @type {Readonly<Record<string, string>>} */
const packageOf = { promtool: "prometheus", "OpenAPI::Client": "libopenapi-client-perl" };

/** Throws if a command can neither be found nor installed.
 * @param {readonly string[]} commands
 */
export function requireCommands(commands) {
  const missing = commands.filter((command) => !isThere(command));
  if (missing.length > 0)
    aptInstall(
      missing.join(", "),
      missing.map((command) => packageOf[command] ?? command),
    );
  const lost = missing.filter((command) => !isThere(command));
  if (lost.length > 0)
    throw new Error(
      `the tests use ${lost.join(" and ")}, which could not be installed: install it, and start again`,
    );
}
