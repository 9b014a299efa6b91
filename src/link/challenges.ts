// What a dialer has to prove the key about. An acceptor recognises its own challenges by its own signature
// on them, so those who ask for one and don't come back cost it nothing.

import type { Host } from "../base/ports.ts";
import { challengeMs } from "./times.ts";

/** 32 random bytes, in hex. */
export function randomText(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Challenges {
  readonly #host: Pick<Host, "sign" | "equalSecrets" | "clock">;
  /** Of this process only: no other one recognises its challenges. Doesn't depend on the trust key. */
  readonly #secret: string = randomText();
  /** Those that were answered with a right proof, until they are too old anyway. */
  readonly #spent = new Map<string, number>();

  constructor(host: Pick<Host, "sign" | "equalSecrets" | "clock">) {
    this.#host = host;
  }

  /** `<nonce>.<time>.<signature>` */
  issue(): string {
    // Strangers may ask for thousands a second. Runtimes have random bytes for UUIDs in stock.
    const issued = `${crypto.randomUUID()}.${Math.floor(this.#host.clock.now())}`;
    return `${issued}.${this.#sign(issued)}`;
  }

  /** Whether it is one of these, not too old, and not spent. */
  knows(challenge: string): boolean {
    const end = challenge.lastIndexOf(".");
    const issued = challenge.slice(0, Math.max(end, 0));
    if (!this.#host.equalSecrets(challenge.slice(end + 1), this.#sign(issued))) return false;
    const age = this.#host.clock.now() - Number(issued.slice(issued.lastIndexOf(".") + 1));
    return age <= challengeMs && !this.#spent.has(challenge);
  }

  /** A proof about it was right: nobody can use that again. */
  spend(challenge: string): void {
    const now = this.#host.clock.now();
    // The oldest are first.
    for (const [old, at] of this.#spent) {
      if (now - at <= challengeMs) break;
      this.#spent.delete(old);
    }
    this.#spent.set(challenge, now);
  }

  #sign(issued: string): string {
    return this.#host.sign(this.#secret, issued);
  }
}
