// Runs a page of the guide from top to bottom, as a reader would who types everything in.
//
// `DOCS_UPDATE=1 npx vitest run test/docs/guide -t http.md` writes the outputs that came into the page, for its author to read: in
// place of those that differ, `# ?` for instance. What differs each time is written as …

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../_sources.ts";
import { type Application, createApplication, type Service } from "./_application.ts";
import { type Block, blocksOf, isKill, type Step, stepsOf } from "./_blocks.ts";
import { difference, linesOf } from "./_output.ts";
import { type Ports, portsFor } from "./_ports.ts";

export interface PageRun {
  /** Blocks that were written or run. */
  readonly examples: number;
  /** Each names page and line. */
  readonly failures: readonly string[];
}

const helper = new URL("./_browser.mjs", import.meta.url).href;

interface Correction {
  readonly step: Step;
  readonly lines: readonly string[];
}

/** Both bound a failure: a service is there in half a second, and has then said all that it says at its start. */
const patience = 20_000;
const afterwards = 2_000;
/** How long a node has for its gateway, beside which it was started. */
const joining = 5_000;

/** Runs a page of the project, or a text under its name. */
export async function runPage(page: string, given?: string): Promise<PageRun> {
  const text = given ?? readFileSync(join(root, page), "utf8");
  const ports = await portsFor(text);
  const application = await createApplication();
  const reader = new Reader(application, ports, page);
  try {
    const blocks = blocksOf(page, text);
    for (const block of blocks) await reader.take(block);
    if (process.env["DOCS_UPDATE"] && given === undefined) correct(page, reader.corrections);
    return {
      examples: blocks.filter(({ kind }) => kind !== "shown").length,
      failures: reader.failures,
    };
  } finally {
    await application.remove();
  }
}

class Reader {
  readonly failures: string[] = [];
  readonly corrections: Correction[] = [];
  readonly #jobs = new Map<number, Service>();
  readonly #application: Application;
  readonly #ports: Ports;
  readonly #page: string;

  constructor(application: Application, ports: Ports, page: string) {
    this.#application = application;
    this.#ports = ports;
    this.#page = page;
  }

  async take(block: Block): Promise<void> {
    if (block.kind === "file") {
      await this.#application.write(block.path, this.#ports.toReal(block.text));
    } else if (block.kind === "run") await this.#commands(stepsOf(block));
    else if (block.kind === "test") await this.#test(block);
  }

  async #test({ at, line, text }: Block): Promise<void> {
    // One line before it, as many as the page has: the line of an error is the line of the page.
    const imports = `import assert from "node:assert/strict"; import { openPage, closePages } from "${helper}";`;
    const after = "\nawait closePages();\n";
    await this.#application.write(
      ".example.mjs",
      imports + "\n".repeat(line) + this.#ports.toReal(text) + after,
    );
    const { code, output } = await this.#application.run("node .example.mjs");
    if (code !== 0)
      this.failures.push(
        `${at}: the test failed\n${this.#shown(output).replaceAll(/\S*\.example\.mjs/g, this.#page)}`,
      );
  }

  async #commands(steps: readonly Step[]): Promise<void> {
    for (let index = 0; index < steps.length; index++) {
      const together = [steps[index]!];
      while (together[0]?.service && steps[index + 1]?.service) together.push(steps[++index]!);
      if (together[0]?.service) await this.#services(together);
      else await this.#command(together[0]!);
    }
  }

  async #command(step: Step): Promise<void> {
    if (isKill(step.command)) return await this.#kill(step, step.command.split(" ").slice(1));
    const { code, output } = await this.#application.run(this.#ports.toReal(step.command));
    if (step.expected !== undefined) return this.#compare(step, output);
    if (code !== 0)
      this.failures.push(
        `${this.#at(step.line)}: ended with ${code}: ${step.command}\n${this.#shown(output)}`,
      );
  }

  /** All at once, as a shell does: each serves for another second. */
  async #kill(step: Step, jobs: readonly string[]): Promise<void> {
    await Promise.all(
      jobs.map(async (job) => {
        const number = Number(job.slice(1));
        const service = this.#jobs.get(number);
        this.#jobs.delete(number);
        if (service === undefined)
          this.failures.push(`${this.#at(step.line)}: there is no service ${job}`);
        await service?.stop();
      }),
    );
  }

  /**
   * Starts services that stand under each other at once, and waits for all: one may need another to be ready.
   * One whose page shows its output is there when it has said so; it may be unhealthy, and mean it.
   */
  async #services(steps: readonly Step[]): Promise<void> {
    const before = await readyOf(this.#ports.real);
    const started = steps.map((step) => {
      const service = this.#application.start(this.#ports.toReal(step.command));
      this.#jobs.set(Math.max(0, ...this.#jobs.keys()) + 1, service);
      return { step, service };
    });
    let deadline = Date.now() + patience;
    // A node whose gateway isn't there yet is ready all the same. With less in its log, it never says that it has joined.
    const joinUntil = Date.now() + joining;
    const isJoining = ({ service }: (typeof started)[number]): boolean => {
      const output = service.output();
      return (
        output.lastIndexOf("can't join the gateway") > output.lastIndexOf("joined the gateway")
      );
    };
    const differs = ({ step, service }: (typeof started)[number]): boolean =>
      step.expected !== undefined &&
      difference(step.expected, this.#shown(service.output())) !== undefined;
    for (;;) {
      const ended = started.find(({ service }) => service.code() !== undefined);
      const answering = (await readyOf(this.#ports.real)).length - before.length >= steps.length;
      const ready = answering || steps.every(({ expected }) => expected !== undefined);
      const joins = Date.now() < joinUntil && started.some(isJoining);
      if (ended === undefined && ready && !joins && !started.some(differs)) return;
      if (answering && !joins) deadline = Math.min(deadline, Date.now() + afterwards);
      if (ended !== undefined || Date.now() > deadline) break;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    for (const { step, service } of started) {
      const output = service.output();
      if (service.code() !== undefined)
        this.failures.push(
          `${this.#at(step.line)}: ended: ${step.command}\n${this.#shown(output)}`,
        );
      else if (step.expected === undefined)
        this.failures.push(
          `${this.#at(step.line)}: is not ready: ${step.command}\n${this.#shown(output)}`,
        );
      else this.#compare(step, output);
    }
  }

  #compare(step: Step, output: string): void {
    const shown = this.#shown(output);
    const different = difference(step.expected ?? [], shown);
    if (different === undefined) return;
    this.failures.push(`${this.#at(step.outputLine)}: the output of ${step.command}\n${different}`);
    this.corrections.push({ step, lines: linesOf(shown) });
  }

  /** The output as a reader would see it: ports of the page, no folder of this run, and not the three headers that Node itself adds. */
  #shown(output: string): string {
    const text = output
      .replaceAll(/^(?:Date|Connection|Keep-Alive): .*\r\n/gim, "")
      .replaceAll(this.#application.root, "/app")
      .replaceAll(root, "/app/node_modules/seamline");
    return this.#ports.toPage(text);
  }

  #at(line: number): string {
    return `${this.#page}:${line}`;
  }
}

/** Ports where something answers and doesn't say that it isn't ready. */
async function readyOf(ports: readonly number[]): Promise<number[]> {
  const answers = await Promise.all(
    ports.map(async (port) => {
      const answer = await fetch(`http://127.0.0.1:${port}/health/ready`, {
        signal: AbortSignal.timeout(1_000),
      }).catch(() => undefined);
      await answer?.body?.cancel();
      return answer !== undefined && answer.status !== 503;
    }),
  );
  return ports.filter((_, index) => answers[index]);
}

function correct(page: string, corrections: readonly Correction[]): void {
  const lines = readFileSync(join(root, page), "utf8").split("\n");
  for (const { step, lines: came } of corrections.toReversed())
    lines.splice(
      step.outputLine - 1,
      step.expected?.length ?? 0,
      ...came.map((line) => `# ${stable(line)}`.trimEnd()),
    );
  writeFileSync(join(root, page), lines.join("\n"));
}

/** How long a build took, and of which revision it is. */
const stable = (line: string): string =>
  line.replace(/\b\d+\.\d s\b/, "… s").replace(/\brevision [\da-f]{16}\b/, "revision …");
