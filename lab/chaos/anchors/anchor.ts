// nginx and HAProxy before three plain servers, tuned as well as we know how: what the same faults
// cost there says what the figures of Seamline are worth.

import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type Command, launch } from "../../../test/process/_application.ts";
import { type Kind, procedureMs } from "../harness/application.ts";
import { type Call, pause } from "../harness/load.ts";
import { freePort } from "../../../test/_free-port.ts";
import { removedAtExit, started } from "../harness/started.ts";
import type { Member, Subject } from "../harness/subject.ts";

export type AnchorName = "nginx" | "HAProxy";

interface Balancer {
  readonly program: string;
  readonly versionOption: string;
  /** The words that start it, after the configuration was written to `folder`. */
  words(folder: string): readonly string[];
  configuration(port: number, servers: readonly number[], folder: string): string;
}

const balancers: Readonly<Record<AnchorName, Balancer>> = {
  nginx: {
    program: "nginx",
    versionOption: "-v",
    words: (folder) => ["-p", folder, "-c", join(folder, "configuration"), "-e", "stderr"],
    configuration: (port, servers, folder) => `
daemon off;
master_process off;

pid ${folder}/pid;
error_log /dev/null;
events { worker_connections 4096; }
http {
  access_log off;
${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `  ${name}_temp_path ${folder}/${name};`).join("\n")}
  upstream servers {
    zone servers 64k;
${servers.map((server) => `    server 127.0.0.1:${server} max_fails=1 fail_timeout=2s;`).join("\n")}
    keepalive 64;
  }
  server {
    listen 127.0.0.1:${port};
    keepalive_requests 1000000;
    location / {
      proxy_pass http://servers;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_connect_timeout 250ms;
      proxy_read_timeout 1s;
      proxy_next_upstream error timeout http_502 http_503;
      proxy_next_upstream_tries 3;
    }
  }
}
`,
  },
  HAProxy: {
    program: "haproxy",
    versionOption: "-v",
    words: (folder) => ["-db", "-q", "-f", join(folder, "configuration")],
    configuration: (port, servers) => `
global
  maxconn 4096
defaults
  mode http
  timeout connect 250ms
  timeout client 60s
  timeout server 1s
  timeout check 1s
  retries 3
  option redispatch 1
  retry-on conn-failure empty-response response-timeout
frontend front
  bind 127.0.0.1:${port}
  default_backend servers
backend servers
  balance roundrobin
  option httpchk GET /health
  http-request disable-l7-retry if METH_POST
  default-server check inter 250ms fall 2 rise 1 observe layer4 error-limit 1 on-error mark-down
${servers.map((server, index) => `  server s${index} 127.0.0.1:${server}`).join("\n")}
`,
  },
};

/** The output of its \`--version\`, or undefined if it isn't installed. */
export function versionOf(name: AnchorName): string | undefined {
  const { program, versionOption } = balancers[name];
  const { error, stdout, stderr } = spawnSync(program, [versionOption], { encoding: "utf8" });
  if (error !== undefined) return undefined;
  return /\d+\.\d+\.\d+/.exec(stdout + stderr)?.[0] ?? "unknown version";
}

export async function startAnchor(name: AnchorName): Promise<Subject> {
  const folder = removedAtExit(await mkdtemp(join(tmpdir(), "seamline-anchor-")));
  const ledger = join(folder, "ledger");
  await mkdir(ledger);
  const commands: Command[] = [];
  const start = (words: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const command = started(launch(words, folder, env));
    commands.push(command);
    return command;
  };
  const close = async (): Promise<void> => {
    await Promise.all(commands.map((command) => command.ended("SIGKILL")));
    await rm(folder, { recursive: true, force: true });
  };
  const ports = [await freePort(), await freePort(), await freePort()];
  const members = ports.map((port, index) =>
    memberOf("abc"[index]!, (name) =>
      start([process.execPath, join(import.meta.dirname, "server.mjs")], {
        CHAOS_LEDGER: ledger,
        CHAOS_NODE: name,
        CHAOS_PORT: String(port),
      }),
    ),
  );
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  try {
    await Promise.all(members.map((member) => member.start()));
    const { program, words, configuration } = balancers[name];
    await writeFile(join(folder, "configuration"), configuration(port, ports, folder));
    const balancer = start([program, ...words(folder)]);
    for (let tries = 0; ; tries++) {
      if (await fetch(url).catch(() => undefined)) break;
      if (balancer.child.exitCode !== null || tries > 200)
        throw new Error(`${name} didn't start:\n${balancer.output()}`);
      await pause(50);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    name,
    url,
    members,
    ledger,
    pids: () => commands.map(({ child }) => child.pid!),
    urlFor: async () => url,
    hasErrorNames: false,
    callOf,
    close,
  };
}

function memberOf(name: string, launched: (name: string) => Command): Member {
  let command: Command | undefined;
  return {
    name,
    get pid() {
      return command!.child.pid!;
    },
    async start() {
      command = launched(name);
      await command.says(/ready/);
    },
    signal: (signal) => void command?.child.kill(signal),
    ended: async () => await command!.ended(),
  };
}

/** A call that may run twice is a GET here: both balancers know by the method. */
function callOf(kind: Kind, id: string, ms = procedureMs): Call {
  return {
    method: kind === "stock" ? "GET" : "POST",
    path: `/${kind}?id=${id}&ms=${ms}`,
    headers: kind === "stock" ? {} : { "content-length": "0" },
  };
}
