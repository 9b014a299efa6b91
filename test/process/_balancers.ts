// Real nginx and HAProxy between services, if they are installed: each row is one way in which they are set up.

import { spawnSync } from "node:child_process";
import { connect } from "node:net";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { onTestFinished } from "vitest";

import { freePort } from "../_free-port.ts";
import { launch } from "./_application.ts";

/** The way in which a balancer forwards. */
export interface Passing {
  /** Has a certificate of its own. */
  readonly hasTls?: boolean;
  /** The services behind it speak https. */
  readonly isTlsBehind?: boolean;
  /** Passes bytes on, and reads none. */
  readonly isTcp?: boolean;
  /** Which upgrades it passes on [all]. */
  readonly upgrades?: "none" | "websocket";
  readonly changesHost?: boolean;
  /** Header fields that nginx sets, in its own language. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Its newest TLS is 1.2, which is what nginx has by default before 1.23.4. */
  readonly isOld?: boolean;
}

/** The options of a balancer. */
interface Setting extends Passing {
  readonly port: number;
  /** Host and port. */
  readonly behind: string;
  readonly folder: string;
  /** Paths of a certificate and its key. */
  readonly cert: string;
  readonly key: string;
}

interface Balancer {
  readonly version: string;
  readonly words: (file: string, folder: string) => readonly string[];
  readonly configuration: (setting: Setting) => string;
}

const path = `${process.env["PATH"] ?? ""}:/usr/sbin`;

const nginx: Balancer = {
  version: versionOf("nginx", "-v"),
  words: (file, folder) => ["nginx", "-p", folder, "-c", file, "-e", "stderr"],
  configuration: ({ port, behind, folder, cert, key, ...passing }) => `
daemon off;
master_process off;
pid ${folder}/pid;
error_log stderr;
events {}
http {
  access_log off;
${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `  ${name}_temp_path ${folder}/${name};`).join("\n")}
  ssl_protocols ${passing.isOld === true ? "TLSv1.2" : "TLSv1.2 TLSv1.3"};
  proxy_ssl_protocols ${passing.isOld === true ? "TLSv1.2" : "TLSv1.2 TLSv1.3"};
  map $http_upgrade $passed_upgrade { ${passing.upgrades === "websocket" ? 'default ""; ~*^websocket$ websocket;' : "default $http_upgrade;"} }
  map $passed_upgrade $passed_connection { default upgrade; "" ""; }
  upstream gateway { server ${behind}; }
  server {
    listen 127.0.0.1:${port}${passing.hasTls === true ? ` ssl; ssl_certificate ${cert}; ssl_certificate_key ${key}` : ""};
    location / {
      proxy_pass ${passing.isTlsBehind === true ? "https" : "http"}://gateway;
      ${passing.changesHost === true ? "" : "proxy_set_header Host $http_host;"}
      ${Object.entries(passing.fields ?? {})
        .map(([name, value]) => `proxy_set_header ${name} ${value};`)
        .join("\n      ")}
      ${
        passing.upgrades === "none"
          ? ""
          : `proxy_http_version 1.1; proxy_set_header Connection $passed_connection; proxy_set_header Upgrade $passed_upgrade;`
      }
    }
  }
}
`,
};

const haproxy: Balancer = {
  version: versionOf("haproxy", "-v"),
  words: (file) => ["haproxy", "-db", "-f", file],
  configuration: ({ port, behind, folder, cert, key, ...passing }) => {
    // It wants both in one file.
    const both = join(folder, "both.pem");
    writeFileSync(both, `${readFileSync(cert, "utf8")}${readFileSync(key, "utf8")}`);
    const old = passing.isOld === true ? " ssl-max-ver TLSv1.2" : "";
    return `
defaults
  mode ${passing.isTcp === true ? "tcp" : "http"}
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend front
  acl websocket hdr(upgrade) -i websocket
  bind 127.0.0.1:${port}${passing.hasTls === true ? ` ssl crt ${both}${old}` : ""}
${
  passing.upgrades === undefined
    ? ""
    : ["Upgrade", "Connection"]
        .map(
          (name) =>
            `  http-request del-header ${name}${passing.upgrades === "websocket" ? " if !websocket" : ""}`,
        )
        .join("\n")
}
${passing.changesHost === true ? "  http-request set-header Host gateway.internal\n" : ""}
  default_backend gateway
backend gateway
  server one ${behind}${passing.isTlsBehind === true ? ` ssl verify none${old}` : ""}
`;
  },
};

export const balancers: Readonly<Record<"nginx" | "HAProxy", Balancer>> = {
  nginx,
  HAProxy: haproxy,
};

/** An empty text: it isn't installed. */
function versionOf(program: string, option: string): string {
  const { stdout, stderr } = spawnSync(program, [option], {
    env: { PATH: path },
    encoding: "utf8",
  });
  return `${stdout ?? ""}${stderr ?? ""}`;
}

async function answersAt(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true));
    socket.on("error", () => resolve(false)).on("connect", () => socket.destroy());
  });
}

/** Starts one in front of the service at `url`, until the test ends. Resolves with its address. */
export async function balancerBefore(
  url: string,
  { words, configuration }: Balancer,
  certificate: { readonly cert: string; readonly key: string },
  passing: Passing,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "seamline-balancer-"));
  const port = await freePort();
  const file = join(folder, "configuration");
  const setting = { ...passing, ...certificate, port, behind: new URL(url).host, folder };
  writeFileSync(file, configuration(setting));
  const command = launch(words(file, folder), folder, { PATH: path });
  onTestFinished(async () => {
    await command.ended("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  while (!(await answersAt(port))) {
    if (command.child.exitCode !== null)
      throw new Error(`the balancer has ended:\n${command.output()}`);
    await pause(20);
  }
  const isTls = passing.hasTls === true || (passing.isTcp === true && url.startsWith("https:"));
  return `${isTls ? "https" : "http"}://127.0.0.1:${port}`;
}
