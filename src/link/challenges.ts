// Challenges for dialers, to prove the key with. An acceptor recognises its own challenges by its signature on
// them and stores none, so a stranger that asks for one and doesn't come back costs no memory.

import type { Host } from "../base/ports.ts";
import { challengeMs } from "./times.ts";

/** 32 random bytes, in hex. */
export function randomText(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Challenges {
  readonly #host: Pick<Host, "sign" | "equalSecrets" | "clock">;
  /** Random for each process, so no other process recognises its challenges. Independent of the trust key. */
  readonly #secret: string = randomText();
  /** Challenges that were answered with a right proof, until they expire anyway. */
  readonly #spent = new Map<string, number>();

  constructor(host: Pick<Host, "sign" | "equalSecrets" | "clock">) {
    this.#host = host;
  }

  /** `<nonce>.<time>.<signature>` */
  issue(): string {
    // Strangers may ask for thousands a second, and runtimes buffer the random bytes of UUIDs.
    const issued = `${crypto.randomUUID()}.${Math.floor(this.#host.clock.now())}`;
    return `${issued}.${this.#sign(issued)}`;
  }

  /** Whether this process issued the challenge, and it is neither expired nor spent. */
  knows(challenge: string): boolean {
    const end = challenge.lastIndexOf(".");
    const issued = challenge.slice(0, Math.max(end, 0));
    if (!this.#host.equalSecrets(challenge.slice(end + 1), this.#sign(issued))) return false;
    const age = this.#host.clock.now() - Number(issued.slice(issued.lastIndexOf(".") + 1));
    return age <= challengeMs && !this.#spent.has(challenge);
  }

  /** The challenge was answered with a right proof, which can't be used again. */
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
