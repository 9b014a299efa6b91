// NATS servers as processes on free ports of this machine, whose files are in a temporary folder.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { freePort } from "./_free-port.ts";

export interface NatsOptions {
  /** More lines of its configuration. */
  readonly lines?: string;
  /** [true] */
  readonly jetStream?: boolean;
  /** Another configuration, of which only the port and the folder are replaced. */
  readonly file?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export class NatsServer {
  readonly port: number;
  readonly folder: string;
  readonly #options: NatsOptions;
  #process: ChildProcess | undefined;

  constructor(port: number, folder: string, options: NatsOptions) {
    this.port = port;
    this.folder = folder;
    this.#options = options;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  get isRunning(): boolean {
    const server = this.#process;
    return server !== undefined && server.exitCode === null && server.signalCode === null;
  }

  /** Starts it, or starts it again with what it has on disk. Resolves when it takes connections. */
  async start(): Promise<void> {
    const { file, env } = this.#options;
    const own = ["-c", join(this.folder, "server.conf")];
    const address = ["-a", "127.0.0.1", "-p", String(this.port), "-sd", join(this.folder, "store")];
    const words = file === undefined ? own : ["-c", file, ...address];
    const server = spawn("nats-server", words, {
      env: { ...process.env, PATH: `${process.env["PATH"]}:/usr/sbin`, ...env },
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#process = server;
    let lines = "";
    await new Promise<void>((resolve, reject) => {
      server.once("error", (error: NodeJS.ErrnoException) =>
        reject(
          error.code === "ENOENT"
            ? new Error("nats-server isn't installed: apt-get install nats-server")
            : error,
        ),
      );
      server.once("exit", () => reject(new Error(`nats-server has ended:\n${lines}`)));
      server.stderr.setEncoding("utf8").on("data", (text: string) => {
        if (lines.length < 10_000) lines += text;
        if (lines.includes("Server is ready")) resolve();
      });
    });
  }

  /** Ends it at once, as a crash does. */
  async kill(): Promise<void> {
    if (!this.isRunning) return;
    const server = this.#process!;
    const ended = once(server, "exit");
    server.kill("SIGKILL");
    await ended;
  }

  /** It does nothing any more, and its connections stay. */
  hang(): void {
    this.#process?.kill("SIGSTOP");
  }

  goOn(): void {
    this.#process?.kill("SIGCONT");
  }

  /** Removes what a server that has ended has on disk. */
  async forget(): Promise<void> {
    await rm(join(this.folder, "store"), { recursive: true, force: true });
  }
}

/** Several servers, and what stops them and removes their files. */
export async function natsServers(
  all: readonly NatsOptions[],
): Promise<{ readonly servers: readonly NatsServer[]; readonly close: () => Promise<void> }> {
  const ports = await freePorts(all.length);
  const folder = await mkdtemp(join(tmpdir(), "seamline-nats-"));
  const servers: NatsServer[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.kill()));
    await rm(folder, { recursive: true, force: true });
  };
  for (const [index, options] of all.entries()) {
    const { lines = "", jetStream = true } = options;
    const own = await mkdtemp(join(folder, `${index}-`));
    const port = ports[index]!;
    await writeFile(
      join(own, "server.conf"),
      `server_name: "n${index}"
       listen: "127.0.0.1:${port}"
       ${jetStream ? `jetstream { store_dir: "${join(own, "store")}", max_mem: 64M, max_file: 512M }` : ""}
       ${lines}`,
    );
    servers.push(new NatsServer(port, own, options));
  }
  try {
    await Promise.all(servers.map((server) => server.start()));
  } catch (error) {
    await close();
    throw error;
  }
  return { servers, close };
}

/** The configurations of three servers, each with a copy of everything. `lines` are further ones of each. */
export async function clusterOptions(
  lines: (server: number) => string = () => "",
): Promise<readonly NatsOptions[]> {
  const routes = await freePorts(3);
  return routes.map((port, server) => ({
    lines: `${lines(server)}
        cluster { name: "tests", listen: "127.0.0.1:${port}"
          routes: [${routes.map((to) => `"nats://127.0.0.1:${to}"`).join(", ")}] }`,
  }));
}

const freePorts = async (count: number): Promise<readonly number[]> =>
  await Promise.all(Array.from({ length: count }, freePort));
