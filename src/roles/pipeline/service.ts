// The parts of every role, whatever it does with requests: senders' rights, its origin as seen from outside, its
// limits and its middleware.

import type { Host } from "../../base/ports.ts";
import type { Limits } from "../../base/limits.ts";
import type { ErrorVisibility } from "../../codec/error-mask.ts";
import {
  createPublicOrigin,
  type PublicOrigin,
  type PublicOriginOptions,
} from "../../http/public-origin.ts";
import { createCredentials, type Credentials, type TrustKey } from "../../http/trust.ts";
import { MiddlewareChain } from "./middleware-chain.ts";

/** Options of every role. */
export interface ServiceOptions {
  readonly trustKey: TrustKey;
  readonly limits: Limits;
  readonly web?: PublicOriginOptions | undefined;
  /** Errors in answers to untrusted callers [shown]. */
  readonly errors?: ErrorVisibility | undefined;
  /** `false`: a proxy between services ends TLS [true]. */
  readonly endToEndTls?: boolean | undefined;
}

export interface Service {
  readonly host: Host;
  readonly credentials: Credentials;
  readonly web: PublicOrigin;
  readonly limits: Limits;
  readonly chain: MiddlewareChain;
  /** Errors in answers to untrusted callers [shown]. */
  readonly errors: ErrorVisibility | undefined;
}

export function createService(host: Host, options: ServiceOptions): Service {
  return {
    host,
    credentials: createCredentials(options.trustKey, host),
    web: createPublicOrigin(host.log, options.web),
    limits: options.limits,
    chain: new MiddlewareChain(host),
    errors: options.errors,
  };
}
