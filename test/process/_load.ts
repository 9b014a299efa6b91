// Calls at a steady rate, whatever becomes of them, over kept connections as load balancers have them.

import { Agent, request } from "node:http";

export interface Answer {
  /** 0 if the connection failed. */
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

const kept = new Agent({ keepAlive: true });

/** Sends a request on a kept connection, without sending it again when that fails. */
export function send(url: string, agent: Agent = kept): Promise<Answer> {
  return new Promise((resolve) => {
    const failed = (error: Error): void => resolve({ status: 0, text: error.message, headers: {} });
    request(url, { agent }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      answer.once("error", failed);
      answer.once("end", () =>
        resolve({ status: answer.statusCode ?? 0, text, headers: answer.headers }),
      );
    })
      .once("error", failed)
      .end();
  });
}

export interface Load {
  /** How many answers there were of each kind: `"200 quick"`, or `"0 read ECONNRESET"`. */
  readonly answers: ReadonlyMap<string, number>;
  /** Resolves when there are this many more answers with status 200. */
  more(count: number): Promise<void>;
  /** Sends no more, and resolves when all calls have ended. */
  end(): Promise<void>;
}

/** Calls the addresses in turn, one every `everyMs`. */
export function startLoad(urls: readonly string[], everyMs: number): Load {
  const answers = new Map<string, number>();
  const running = new Set<Promise<void>>();
  let sent = 0;
  let good = 0;
  let notify = (): void => {};
  const call = (): void => {
    const ended = send(urls[sent++ % urls.length] ?? "").then(({ status, text }) => {
      const kind = `${status} ${text}`;
      answers.set(kind, (answers.get(kind) ?? 0) + 1);
      if (status === 200) good++;
      notify();
      running.delete(ended);
    });
    running.add(ended);
  };
  const timer = setInterval(call, everyMs);
  return {
    answers,
    more(count) {
      const wanted = good + count;
      return new Promise((resolve) => {
        notify = () => good >= wanted && resolve();
      });
    },
    async end() {
      clearInterval(timer);
      await Promise.all(running);
    },
  };
}
