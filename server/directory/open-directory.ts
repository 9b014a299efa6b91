// Opens the directory of a configuration.

import type { BucketName } from "../../src/base/ports/buckets.ts";
import type { Host } from "../../src/base/ports.ts";
import type { TrustKey } from "../../src/http/trust.ts";
import { Directory } from "../../src/roles/directory/directory.ts";
import { withDirectory } from "../../src/roles/with-directory.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { defaultDirectoryPrefix } from "../config/config-directory.ts";
import type { DirectoryConfig } from "../config/config-types.ts";
import { openBuckets } from "./nats/open.ts";

/** The buckets that each kind of service reads or writes. */
const used: Readonly<Record<"gateway" | "node" | "proxy", readonly BucketName[]>> = {
  gateway: ["gateways", "members", "lists"],
  node: ["gateways", "members", "lists"],
  proxy: ["gateways"],
};

export interface OpenDirectoryParts {
  readonly host: Host;
  readonly config: DirectoryConfig;
  readonly role: "gateway" | "node" | "proxy";
  /** The application folder. */
  readonly root: string;
  readonly trustKey: TrustKey;
  /** This process, as in the handshakes of its links. */
  readonly instance: string;
}

export interface OpenedDirectory {
  readonly directory: Directory;
  /** The addresses of its servers, without user, password and token. */
  readonly servers: readonly string[];
  /** Wraps a role so that the directory starts and stops with it and lists it. */
  around(role: Role, announce?: (url: string) => Promise<void>): Role;
}

/** Doesn't connect yet. Rejects if packages or files are missing. */
export async function openDirectory(parts: OpenDirectoryParts): Promise<OpenedDirectory> {
  const { host, config, role, root, trustKey, instance } = parts;
  const prefix = config.prefix ?? defaultDirectoryPrefix;
  const name = `seamline ${role} ${instance}`;
  const { buckets, servers } = await openBuckets({ config, root, name, prefix, uses: used[role] });
  const directory = new Directory({ host, buckets, trustKey, prefix, instance });
  return {
    directory,
    servers,
    around: (inner, announce) => withDirectory(inner, directory, announce),
  };
}
