// A process that npm has started, by `npx seamline` or a script: npm passes SIGTERM to the shell in
// between, which ends and leaves the process behind.

/** The delay until the end of the shell is noticed. */
const intervalMs = 250;

/** A shell that ends by itself is meant to leave its script's background processes running. */
const background = /(?:^|[^&])&(?:[^&]|$)|\b(?:nohup|setsid)\b/;

/**
 * Calls `act` once the shell that npm has started is gone. Returns a function that stops the watch. On Windows,
 * processes don't learn that a parent has ended.
 */
export function whenNpmEnds(
  act: () => void,
  {
    env = process.env,
    parent = () => process.ppid,
  }: { readonly env?: NodeJS.ProcessEnv; readonly parent?: () => number } = {},
): () => void {
  const { npm_command: command, npm_lifecycle_script: script = "" } = env;
  if (command === undefined || background.test(script)) return () => {};
  const shell = parent();
  const timer = setInterval(() => {
    if (parent() === shell) return;
    clearInterval(timer);
    act();
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
