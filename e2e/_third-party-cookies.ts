// A Chromium that sends cookies to other sites, as far as the web's rules allow. Some distributions set
// it up to send none, and private windows, which Playwright's contexts are, never do.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type BrowserContext, chromium } from "@playwright/test";

import { browserArguments, findBrowser } from "../scripts/browser.mjs";

/** Launches it with a new profile, which `close` removes. */
export async function launchWithThirdPartyCookies(
  more: readonly string[] = [],
): Promise<{ readonly context: BrowserContext; close(): Promise<void> }> {
  const executablePath = findBrowser()?.path;
  const profile = mkdtempSync(join(tmpdir(), "seamline-profile-"));
  mkdirSync(join(profile, "Default"));
  writeFileSync(
    join(profile, "Default/Preferences"),
    JSON.stringify({ profile: { cookie_controls_mode: 0, block_third_party_cookies: false } }),
  );
  const context = await chromium.launchPersistentContext(profile, {
    ...(executablePath !== undefined && { executablePath }),
    args: [...browserArguments, ...more],
  });
  const close = async (): Promise<void> => {
    await context.close();
    // Chromium's last process may still write.
    rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  return { context, close };
}
