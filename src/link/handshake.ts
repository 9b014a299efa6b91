// How two services find out that both have the deployment's key, before there is a link. The key never
// travels: each end signs what both have said, with a key of its own direction, so that no end can be
// answered with its own words.

import type { Host } from "../base/ports.ts";
import { keysOf, type TrustKey } from "../http/trust.ts";
import { type Kind, kinds, ProtocolError } from "./frames.ts";

/** The versions of the protocol that this release speaks: its own, and the one before. */
export const versions: readonly [lowest: number, highest: number] = [1, 1];

/** What an end of a link says of itself. */
export interface Introduction {
  readonly nonce: string;
  readonly versions: readonly [lowest: number, highest: number];
  readonly role: string;
  /** The process: random, another one after each start. */
  readonly instance: string;
  /** How often members of a gateway check their health. Only a gateway says it. */
  readonly healthIntervalMs?: number | undefined;
}

export interface HandshakeParts {
  readonly host: Pick<Host, "sign" | "equalSecrets" | "deriveKey">;
  readonly trustKey: TrustKey;
  readonly own: Omit<Introduction, "nonce">;
  readonly isDialer: boolean;
  /** What the other end may be. */
  readonly roles: readonly string[];
  /**
   * What both know of the connection without being told: the host that was dialled, and what only
   * the two ends of an encrypted connection know.
   */
  readonly connection: string;
  readonly send: (kind: Kind, payload: Uint8Array) => void;
  /** Both ends have shown the key. The link speaks this version. */
  readonly onProven: (other: Introduction, version: number) => void;
}

/** The other end doesn't have the key, or speaks no version that this one does. */
export class HandshakeError extends Error {
  override readonly name: string = "HandshakeError";
}

/** The other end doesn't have the key, or what was said has been changed on its way. */
export class WrongKeyError extends HandshakeError {
  override readonly name: string = "WrongKeyError";
}

/** What to do about a {@link WrongKeyError}. */
export const wrongKeyAdvice: string =
  "both must have the same trustKey. If they have, something between them ends TLS or changes the Host: " +
  "let it pass both on, or set 'link' to \"never\"";

/** The other end has the key, and is another service than this one may talk to. */
export class WrongRoleError extends HandshakeError {
  override readonly name: string = "WrongRoleError";
  readonly role: string;

  constructor(role: string, roles: readonly string[]) {
    super(`The other end is a ${role}, not a ${roles.join(" or ")}`);
    this.role = role;
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const nonceBytes = 32;
const noncePattern = new RegExp(`^[0-9a-f]{${2 * nonceBytes}}$`);

/**
 * One end of a handshake: hello → welcome with a proof → proof. Whatever else comes throws a
 * {@link ProtocolError}, and a wrong proof a {@link HandshakeError}.
 */
export class Handshake {
  readonly #parts: HandshakeParts;
  readonly #own: Introduction;
  /** What was said, as it was said: the proofs are about each byte of it. */
  #hello = "";
  #welcome = "";
  #other: Introduction | undefined;
  #isProven = false;

  constructor(parts: HandshakeParts) {
    // Everybody knows the empty key.
    if (keysOf(parts.trustKey).some((key) => key === "") || parts.trustKey.length === 0)
      throw new HandshakeError("A link needs a trustKey");
    this.#parts = parts;
    this.#own = { nonce: randomText(), ...parts.own };
    if (!parts.isDialer) return;
    this.#hello = JSON.stringify(this.#own);
    this.#say(kinds.hello, this.#hello);
  }

  receive(kind: Kind, payload: Uint8Array): void {
    const { isDialer } = this.#parts;
    const text = textOf(payload);
    if (!isDialer && kind === kinds.hello && this.#other === undefined) return this.#answer(text);
    if (isDialer && kind === kinds.welcome && this.#other === undefined) {
      const [welcome = "", proof = ""] = text.split("\n", 2);
      this.#welcome = welcome;
      this.#other = introductionIn(welcome);
      this.#check(proof);
      this.#version();
      this.#say(kinds.proof, this.#proofOf("dialer"));
      return this.#prove();
    }
    if (!isDialer && kind === kinds.proof && this.#other !== undefined && !this.#isProven) {
      this.#check(text);
      return this.#prove();
    }
    throw new ProtocolError(`A frame ${kind} in a handshake`);
  }

  #answer(hello: string): void {
    this.#hello = hello;
    this.#other = introductionIn(hello);
    // Not before the versions are known to have one in common: a proof is for a link that may be.
    this.#version();
    this.#welcome = JSON.stringify(this.#own);
    this.#say(kinds.welcome, `${this.#welcome}\n${this.#proofOf("acceptor")}`);
  }

  #check(proof: string): void {
    const { host, isDialer, trustKey } = this.#parts;
    const from = isDialer ? "acceptor" : "dialer";
    if (!keysOf(trustKey).some((key) => host.equalSecrets(proof, this.#proofOf(from, key))))
      throw new WrongKeyError(
        "The other end doesn't have this deployment's trustKey, or somebody in between has changed what was said",
      );
    const { role } = this.#other as Introduction;
    if (!this.#parts.roles.includes(role)) throw new WrongRoleError(role, this.#parts.roles);
  }

  #prove(): void {
    this.#isProven = true;
    this.#parts.onProven(this.#other as Introduction, this.#version());
  }

  #version(): number {
    const { versions: theirs } = this.#other as Introduction;
    const { versions: ours } = this.#own;
    const version = Math.min(ours[1], theirs[1]);
    if (version < Math.max(ours[0], theirs[0]))
      throw new HandshakeError(
        `The other end speaks versions ${theirs.join(" to ")} of the link, and this one ${ours.join(" to ")}: update one release at a time`,
      );
    return version;
  }

  /** A text without line breaks for each part, so that no two conversations have the same. */
  #proofOf(end: "dialer" | "acceptor", key: string = keysOf(this.#parts.trustKey)[0]!): string {
    const { host, connection } = this.#parts;
    const said = `${this.#hello}\n${this.#welcome}\n${connection}`;
    return host.sign(host.deriveKey(key, `seamline/link/1/${end}`), said);
  }

  #say(kind: Kind, text: string): void {
    this.#parts.send(kind, encoder.encode(text));
  }
}

function randomText(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(nonceBytes));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const isVersion = (version: unknown): version is number =>
  Number.isInteger(version) && (version as number) > 0 && (version as number) < 65_536;
/** Roles and instances go to logs and lists. */
const isName = (text: unknown): text is string =>
  typeof text === "string" && /^[\w.-]{1,64}$/.test(text);

/** More than 24 days are more than a timer takes. */
const isTime = (ms: unknown): ms is number => typeof ms === "number" && ms >= 1 && ms < 2 ** 31;

function introductionIn(text: string): Introduction {
  const { nonce, versions: spoken, role, instance, healthIntervalMs } = objectIn(text);
  if (
    typeof nonce !== "string" ||
    !noncePattern.test(nonce) ||
    !Array.isArray(spoken) ||
    spoken.length !== 2 ||
    !spoken.every(isVersion) ||
    spoken[0]! > spoken[1]! ||
    !isName(role) ||
    !isName(instance) ||
    !(healthIntervalMs === undefined || isTime(healthIntervalMs))
  )
    throw new ProtocolError("An introduction without its parts");
  return { nonce, versions: [spoken[0]!, spoken[1]!], role, instance, healthIntervalMs };
}

function textOf(payload: Uint8Array): string {
  try {
    return decoder.decode(payload);
  } catch {
    throw new ProtocolError("A handshake that isn't text");
  }
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = text.includes("\n") ? undefined : JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // It says so below.
  }
  throw new ProtocolError("A handshake without an object");
}
