// Opens an address in the user's browser.

import { spawn } from "node:child_process";

type Env = Readonly<Record<string, string | undefined>>;

/** Opens an address with the platform's opener. `BROWSER` names another program, or `none`. */
export async function openPage(
  url: string,
  env: Env,
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  const [command, ...words] = openerOf(env, platform);
  if (command === undefined) throw new Error("BROWSER=none");
  await new Promise<void>((resolve, reject) => {
    const child = spawn(command, [...words, url], {
      stdio: "ignore",
      detached: platform !== "win32",
      windowsVerbatimArguments: true,
    });
    child.once("error", (cause) => reject(new Error(`there is no ${command} here`, { cause })));
    // Some openers run as long as the browser, so one that hasn't failed in two seconds has worked.
    const timer = setTimeout(resolve, 2_000);
    child.once("exit", (code) => {
      clearTimeout(timer);
      if (code === 0) resolve();
      else reject(new Error(`${command} ended with ${code}`));
    });
    child.unref();
  });
}

function openerOf(env: Env, platform: NodeJS.Platform): readonly string[] {
  const chosen = env["BROWSER"] ?? "";
  if (chosen !== "") return chosen === "none" ? [] : [chosen];
  if (platform === "darwin") return ["open"];
  // `start` takes the first quoted word for the title of a window.
  if (platform === "win32") return ["cmd", "/c", "start", '""'];
  return ["xdg-open"];
}
