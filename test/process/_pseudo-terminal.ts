// A command at a terminal of its own, with a person who presses keys: util-linux's `script` makes the terminal.

import { spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";

export interface PseudoTerminal {
  /** What has been written until now, without colours. */
  output(): string;
  press(keys: string): void;
  /** The first match in what was written after `from` letters. Rejects with all of it when the command ends before, or says nothing of it in time. */
  says(pattern: RegExp, from?: number): Promise<RegExpExecArray>;
  ended(): Promise<number>;
  kill(): void;
}

// Bounds a failure only.
const patience = 20_000;

/** Words are taken as they are: none may need quotes. */
export function startAtTerminal(
  words: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): PseudoTerminal {
  const command = `stty cols 80 rows 40; exec ${words.join(" ")}`;
  const [program, ...given] =
    process.platform === "darwin"
      ? ["script", "-q", "/dev/null", "sh", "-c", command]
      : ["script", "-qefc", command, "/dev/null"];
  const child = spawn(program, given, {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", TERM: "xterm-256color", SHELL: "/bin/sh", ...env },
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
  });
  let raw = "";
  let end: number | undefined;
  const watchers = new Set<() => void>();
  const tell = (): void => {
    for (const one of watchers) one();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    raw += text;
    tell();
  });
  child.on("close", (code) => {
    end = code ?? -1;
    tell();
  });
  const output = (): string => stripVTControlCharacters(raw).replaceAll("\r", "");
  const when = async <T>(what: string, look: () => T | undefined): Promise<T> =>
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
        const found = look();
        if (found !== undefined) {
          stop();
          resolve(found);
        } else if (end !== undefined) fail(`it ended with ${end}`);
      };
      const timer = setTimeout(fail, patience, "nothing came in time");
      watchers.add(watch);
      watch();
    });
  return {
    output,
    press: (keys) => void child.stdin.write(keys),
    says: async (pattern, from = 0) =>
      await when(String(pattern), () => pattern.exec(output().slice(from)) ?? undefined),
    ended: async () => await when("its end", () => end),
    kill() {
      // The group: `script` and what runs in it.
      if (end === undefined && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    },
  };
}
