import { defineConfig } from "@playwright/test";
import { browserArguments, findBrowser } from "./scripts/browser.mjs";

const executablePath = findBrowser()?.path;

export default defineConfig({
  testDir: "e2e",
  outputDir: "test-results/e2e",
  // Each test starts processes of its own; more workers than cores only make them wait.
  workers: 2,
  fullyParallel: false,
  forbidOnly: Boolean(process.env["CI"]),
  retries: 0,
  // Both only bound a failure. A machine that is busy with something else takes its time to start six processes.
  timeout: 90_000,
  expect: { timeout: 15_000 },
  use: {
    browserName: "chromium",
    launchOptions: {
      ...(executablePath === undefined ? {} : { executablePath }),
      args: browserArguments,
    },
    // It has the document at each step, which one can look at. A film beside it costs a third of the run, as here all is drawn without a GPU.
    trace: { mode: "retain-on-failure", screenshots: false, snapshots: true, sources: true },
  },
});
