// The buckets of a directory in NATS, as a configuration names it.

import type { BucketName, Buckets } from "../../../src/base/ports/buckets.ts";
import type { DirectoryConfig } from "../../config/config-types.ts";
import { NatsBuckets } from "./buckets.ts";
import { natsOptions } from "./options.ts";
import { natsPackages } from "./packages.ts";

export interface OpenBucketsParts {
  readonly config: DirectoryConfig;
  /** The application folder. */
  readonly root: string;
  /** The name of this service in the server's own lists. */
  readonly name: string;
  readonly prefix: string;
  /** The buckets that this service needs. */
  readonly uses: readonly BucketName[];
}

export interface OpenedBuckets {
  readonly buckets: Buckets;
  /** The addresses of the servers, without user, password and token. */
  readonly servers: readonly string[];
}

/** Connects nowhere yet. Rejects if packages or files are missing. */
export async function openBuckets(parts: OpenBucketsParts): Promise<OpenedBuckets> {
  const { config, root, name, prefix, uses } = parts;
  const packages = natsPackages(root);
  const options = await natsOptions(config, { name, core: packages.core });
  const servers = config.nats.map((address) => address.replace(/\/\/.*@/, "//"));
  const buckets = new NatsBuckets({ packages, options, name: servers.join(", "), prefix, uses });
  return { buckets, servers };
}
