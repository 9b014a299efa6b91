// Finds the Chromium for the browser tests: an installed one, else Playwright's, else Debian's.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { aptInstall, tryCommand } from "./commands.mjs";

const root = join(import.meta.dirname, "..");
const variables = ["CHROMIUM_PATH", "PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH"];
const commands = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
// In node_modules, so that a test run leaves nothing elsewhere on the machine.
const local = { PLAYWRIGHT_BROWSERS_PATH: "0", PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT: "10000" };

/** @typedef {{ path: string, from: string }} Browser */

// A second `--disable-features` replaces the first, so this includes Playwright's own list
// (chromiumSwitches.ts).
// oxfmt-ignore
const ofPlaywright = [
  "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable",
  "LensOverlay", "MediaRouter", "PaintHolding", "ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect",
  "TcpPortRandomizationWin", "OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch",
];
/**
 * The address bar's two popup pages and a spare process, which each window gets but no test uses.
 */
const unseen = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "WebUIOmniboxFullPopup",
  "SpareRendererForSitePerProcess",
];

/**
 * Arguments of every Chromium in tests. Without the browser's other services a page takes half of
 * the CPU time.
 */
export const browserArguments = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  `--disable-features=${[...ofPlaywright, ...unseen].join(",")}`,
];

/**
 * Some distributions have a stub here that only asks to install a package; its version tells.
 * @param {string} path
 */
function runs(path) {
  return (
    existsSync(path) &&
    spawnSync(path, ["--version"], { timeout: 20_000, stdio: "ignore" }).status === 0
  );
}

/** @returns {Browser | undefined} */
function onThisMachine() {
  for (const variable of variables) {
    const path = process.env[variable];
    if (path === undefined || path === "") continue;
    if (!runs(path)) throw new Error(`${variable} is '${path}', which doesn't start as a Chromium`);
    return { path, from: variable };
  }
  for (const command of commands) {
    for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
      const path = join(folder, command);
      if (runs(path)) return { path, from: "PATH" };
    }
  }
  return undefined;
}

/**
 * @param {Record<string, string>} environment
 * @returns {Browser | undefined}
 */
function fromPlaywright(environment) {
  // In a process of its own: Playwright settles where its browsers are when it is first imported.
  const ask =
    "import('@playwright/test').then(({ chromium }) => process.stdout.write(chromium.executablePath()))";
  const answer = spawnSync(process.execPath, ["-e", ask], {
    cwd: root,
    env: { ...process.env, ...environment },
    encoding: "utf8",
  });
  return runs(answer.stdout) ? { path: answer.stdout, from: "Playwright" } : undefined;
}

/** Finds an installed Chromium, if any, without downloading one.
 * @returns {Browser | undefined}
 */
export function findBrowser() {
  return onThisMachine() ?? fromPlaywright({}) ?? fromPlaywright(local);
}

/** Installs a Chromium: Playwright's build, else Debian's package.
 * @returns {Browser | undefined}
 */
function installBrowser() {
  const cli = join(root, "node_modules/@playwright/test/cli.js");
  tryCommand("browser", process.execPath, [cli, "install", "chromium"], local, 240_000);
  const playwrights = fromPlaywright(local);
  if (playwrights) return playwrights;
  aptInstall("browser", ["chromium"]);
  const debians = onThisMachine();
  return debians && { ...debians, from: "apt-get" };
}

/** Finds or installs a Chromium that starts; throws with instructions if neither works.
 * @returns {Browser}
 */
export function requireBrowser() {
  const browser = findBrowser() ?? installBrowser();
  if (browser) return browser;
  throw new Error(
    `can't find or install a Chromium; install one and set ${variables[0]} to its path`,
  );
}
