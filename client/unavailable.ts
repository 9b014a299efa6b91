import { NodeNotAvailable } from "../src/base/errors.ts";

/** Says which file of the runtime can't be loaded. */
export const unavailable =
  (file: string) =>
  (cause: unknown): never => {
    throw new NodeNotAvailable(`Can't load /svc/${file}.js`, { cause });
  };
