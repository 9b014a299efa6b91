// Runs a command at a terminal that util-linux's `script` creates, and presses keys.

import { spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";

export interface PseudoTerminal {
  /** The output so far, without colours. */
  output(): string;
  press(keys: string): void;
  /**
   * Waits for the first match in the output after `from` characters. Rejects with the output if the
   * command ends first, or on timeout.
   */
  says(pattern: RegExp, from?: number): Promise<RegExpExecArray>;
  ended(): Promise<number>;
  kill(): void;
}

// Bounds a failure only.
const outputTimeoutMs = 20_000;

/** Starts a command at a terminal. Words aren't quoted. */
export function startAtTerminal(
  words: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): PseudoTerminal {
  const command = `stty cols 80 rows 40; exec ${words.join(" ")}`;
  const [program, ...args] =
    process.platform === "darwin"
      ? ["script", "-q", "/dev/null", "sh", "-c", command]
      : ["script", "-qefc", command, "/dev/null"];
  const child = spawn(program, args, {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", TERM: "xterm-256color", SHELL: "/bin/sh", ...env },
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
  });
  let raw = "";
  let end: number | undefined;
  const watchers = new Set<() => void>();
  const notify = (): void => {
    for (const watch of watchers) watch();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    raw += text;
    notify();
  });
  child.on("close", (code) => {
    end = code ?? -1;
    notify();
  });
  const output = (): string => stripVTControlCharacters(raw).replaceAll("\r", "");
  const until = async <T>(what: string, probe: () => T | undefined): Promise<T> =>
    await new Promise((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        watchers.delete(watch);
      };
      const fail = (why: string): void => {
        stop();
        reject(new Error(`${why} before ${what}:\n${output()}`));
      };
      const watch = (): void => {
        const found = probe();
        if (found !== undefined) {
          stop();
          resolve(found);
        } else if (end !== undefined) fail(`it ended with ${end}`);
      };
      const timer = setTimeout(fail, outputTimeoutMs, "nothing came in time");
      watchers.add(watch);
      watch();
    });
  return {
    output,
    press: (keys) => void child.stdin.write(keys),
    says: async (pattern, from = 0) =>
      await until(String(pattern), () => pattern.exec(output().slice(from)) ?? undefined),
    ended: async () => await until("its end", () => end),
    kill() {
      // The process group: `script` and its children.
      if (end === undefined && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    },
  };
}
