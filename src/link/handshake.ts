// How two services prove to each other that both have the deployment's key, before there is a link. The
// key never travels. The dialer proves first, so a stranger learns nothing that depends on the key. It answers a
// challenge that the acceptor doesn't store, so a stranger takes up no memory.

import type { Host } from "../base/ports.ts";
import {
  type LinkConnection,
  type LinkDialing,
  type LinkRefusal,
  type LinkTls,
  type LinkUpgrade,
  NoLinkThere,
} from "../base/ports/links.ts";
import { linkHeaders } from "../base/protocol.ts";
import { keysOf, type TrustKey } from "../http/trust.ts";
import { Challenges, randomText } from "./challenges.ts";
import { ProtocolError } from "./frames.ts";
import { mostChallenges } from "./limits.ts";

/** The versions of the protocol that this release speaks. */
export const versions: readonly [lowest: number, highest: number] = [1, 1];

/** How an end of a link describes itself. */
export interface Introduction {
  readonly versions: readonly [lowest: number, highest: number];
  readonly role: string;
  /** The process: random, another one after each start. */
  readonly instance: string;
  /** The build that it runs, if it runs one. */
  readonly build?: string | undefined;
}

export interface HandshakeParts {
  readonly host: Pick<Host, "sign" | "equalSecrets" | "deriveKey">;
  readonly trustKey: TrustKey;
  readonly own: Introduction;
  /** Roles that the other end may have. */
  readonly roles: readonly string[];
  /** `false`: something between the two ends of a link ends TLS [true]. */
  readonly endToEndTls?: boolean | undefined;
}

/** The other end, once it has proven the key. */
export interface ProvenEnd {
  readonly other: Introduction;
  /** The highest version of the protocol that both speak. */
  readonly version: number;
}

/** The other end doesn't have the key, or there is no common version of the protocol. */
export class HandshakeError extends Error {
  override readonly name: string = "HandshakeError";
}

/** The other end doesn't have the key, or the handshake was changed on its way. */
export class WrongKeyError extends HandshakeError {
  override readonly name: string = "WrongKeyError";
  /** The remedy. */
  readonly advice: string;

  constructor(message: string, advice: string, options?: ErrorOptions) {
    super(message, options);
    this.advice = advice;
  }
}

const sameKeyAdvice = "both must have the same trustKey";
/** The other way out if a proof can't be tied to a TLS connection. */
const orUntied = 'or set "endToEndTls": false at both';
/** The remedy for a wrong proof that may be tied to another connection. */
const wrongKeyAdvice =
  `${sameKeyAdvice}. If they have, something between them ends TLS: ` +
  `let it pass TLS through, ${orUntied}`;

/** Proofs have to be tied to the TLS connection, and one end can't do that, or is configured not to. */
export class BindingError extends HandshakeError {
  override readonly name: string = "BindingError";
}

/** The other end has the key, but a role that this service may not talk to. */
export class WrongRoleError extends HandshakeError {
  override readonly name: string = "WrongRoleError";
  readonly role: string;

  constructor(role: string, roles: readonly string[]) {
    super(`The other end is a ${role}, not a ${roles.join(" or ")}`);
    this.role = role;
  }
}

const challengePattern = /^[\w.-]{1,200}$/;

/** A key for each direction, so that no end can be answered with its own proof. */
interface Keys {
  readonly dialer: string;
  readonly acceptor: string;
}

/** The keys of a deployment; the first one is used to prove. Throws if there is none, or an empty one. */
function keysFor({ host, trustKey }: HandshakeParts): readonly [Keys, ...Keys[]] {
  const keys = keysOf(trustKey);
  // An empty key is no secret.
  if (keys.length === 0 || keys.includes("")) throw new HandshakeError("A link needs a trustKey");
  return keys.map((key) => ({
    dialer: host.deriveKey(key, "seamline/link/1/dialler"),
    acceptor: host.deriveKey(key, "seamline/link/1/acceptor"),
  })) as unknown as [Keys, ...Keys[]];
}

/** The end that asks for a link. */
export class Dialer implements LinkDialing {
  readonly #parts: HandshakeParts;
  readonly #keys: readonly [Keys, ...Keys[]];
  readonly #challenges: string[] = [];
  #hello = "";
  #hasTls = false;
  #secret = "";

  constructor(parts: HandshakeParts) {
    this.#parts = parts;
    this.#keys = keysFor(parts);
  }

  fields(connection: LinkConnection): Readonly<Record<string, string>> {
    const { own, host, endToEndTls = true } = this.#parts;
    this.#hasTls = connection.tls !== undefined;
    this.#secret = endToEndTls ? secretOf(connection.tls) : "";
    if (this.#challenges.length === 0) return {};
    const nonce = randomText();
    const { way } = connection;
    const hello = JSON.stringify({ nonce, ...own, way, binding: this.#binding });
    this.#hello = hello;
    const key = this.#keys[0].dialer;
    const proofs = this.#challenges.map((challenge) => {
      const proof = host.sign(key, dialerSays(challenge, hello, this.#secret));
      return `${challenge}.${proof}`;
    });
    return { [linkHeaders.hello]: hello, [linkHeaders.proof]: proofs.join(", ") };
  }

  refused({ status, headers, body }: LinkRefusal): void {
    const challenge = headers[linkHeaders.challenge];
    if (status === 401 && typeof challenge === "string" && challengePattern.test(challenge)) {
      if (this.#challenges.length === mostChallenges)
        throw new Error("it answers each request with another challenge");
      this.#challenges.push(challenge);
      return;
    }
    const why = headers[linkHeaders.refused];
    if (why === "key")
      throw this.#wrongKey("The other end refuses the proof of this service's trustKey");
    if (why === "binding")
      throw new BindingError(
        this.#hasTls
          ? 'this service has "endToEndTls": false, and the other end hasn\'t: set it there too, or remove it here'
          : 'the other end has TLS and this end has none: if something between them adds it, set "endToEndTls": false there',
      );
    if (why === "lack")
      throw new BindingError(
        `the other end can't tell its TLS connection from others: something between the two services ends TLS, or it doesn't run on Node: let it pass TLS through, ${orUntied}`,
      );
    // This isn't proven, but it grants nothing: the other end could as well not answer.
    if (why === "proxy") throw new WrongRoleError(why, this.#parts.roles);
    if (why === "service" && this.#challenges.length > 0) {
      const { other } = this.welcomed(body);
      throw new HandshakeError(`A ${other.role} takes no links of a ${this.#parts.own.role}`);
    }
    throw new NoLinkThere(`it answered ${status} when asked for a link`);
  }

  /** Reads an acceptor's introduction. Throws if it isn't proven, or rules out a link. */
  welcomed(text: string): ProvenEnd {
    const { host, own, roles } = this.#parts;
    const [welcome = "", proof = ""] = text.split("\n", 2);
    const isProven = this.#challenges.some((challenge) => {
      const said = acceptorSays(challenge, this.#hello, this.#secret, welcome);
      return this.#keys.some(({ acceptor }) => host.equalSecrets(proof, host.sign(acceptor, said)));
    });
    if (!isProven)
      throw this.#wrongKey(
        "The other end doesn't have this deployment's trustKey, or something in between has changed what was said",
      );
    const other = introductionIn(objectIn(welcome));
    if (!roles.includes(other.role)) throw new WrongRoleError(other.role, roles);
    return { other, version: commonVersion(own, other) };
  }

  get #binding(): Binding {
    return bindingOf(this.#secret);
  }

  #wrongKey(message: string): WrongKeyError {
    return new WrongKeyError(message, this.#binding === "tls" ? wrongKeyAdvice : sameKeyAdvice);
  }
}

/** An acceptor's answer: a refusal, or the text that welcomes the dialer. */
export type Verdict =
  | LinkRefusal
  | (ProvenEnd & { readonly status: 101; readonly welcome: string });

export interface AcceptorParts extends HandshakeParts {
  readonly host: HandshakeParts["host"] & Pick<Host, "clock">;
  /** Called when a proof is wrong or isn't tied to its connection, with the dialer's address. */
  readonly onRefusal: (from: string | undefined, why: string) => void;
}

/** The end that is asked for links. It stores nothing about dialers that haven't proven the key. */
export class Acceptor {
  readonly #parts: AcceptorParts;
  readonly #keys: readonly [Keys, ...Keys[]];
  readonly #challenges: Challenges;

  constructor(parts: AcceptorParts) {
    this.#parts = parts;
    this.#keys = keysFor(parts);
    this.#challenges = new Challenges(parts.host);
  }

  answer({ headers, way, tls, from }: LinkUpgrade): Verdict {
    const { endToEndTls = true } = this.#parts;
    if (endToEndTls && tls !== undefined && "lack" in tls)
      return this.#refuse(501, "lack", `${tls.lack}, ${orUntied}`, from);
    const hello = headers[linkHeaders.hello];
    const proofs = headers[linkHeaders.proof];
    if (typeof hello !== "string" || typeof proofs !== "string") return this.#challenge();
    const given = proofsIn(proofs).find(({ challenge }) => this.#challenges.knows(challenge));
    if (given === undefined) return this.#challenge();
    const { challenge, proof } = given;
    // The hello names the binding, but isn't read before the proof is right. There are only these possibilities.
    const secrets = tls !== undefined && "secret" in tls ? [tls.secret, ""] : [""];
    const secret = secrets.find((each) => this.#isRight(proof, dialerSays(challenge, hello, each)));
    if (secret === undefined)
      return this.#refuse(403, "key", `the proof is wrong: ${wrongKeyAdvice}`, from);
    this.#challenges.spend(challenge);
    if (endToEndTls && tls !== undefined && secret === "")
      return this.#refuse(
        403,
        "binding",
        'the proof isn\'t tied to this TLS connection: if something between the two services ends TLS, set "endToEndTls": false at both',
        from,
      );
    return this.#welcome(challenge, hello, way, secret);
  }

  #refuse(status: number, reason: string, why: string, from: string | undefined): LinkRefusal {
    this.#parts.onRefusal(from, why);
    return { status, headers: { [linkHeaders.refused]: reason }, body: why };
  }

  #challenge(): LinkRefusal {
    const headers = {
      "www-authenticate": linkHeaders.proof,
      [linkHeaders.challenge]: this.#challenges.issue(),
    };
    return { status: 401, headers, body: "" };
  }

  #isRight(proof: string, said: string): boolean {
    const { host } = this.#parts;
    return this.#keys.some(({ dialer }) => host.equalSecrets(proof, host.sign(dialer, said)));
  }

  /** The dialer has proven the key, so its hello may be read. */
  #welcome(challenge: string, hello: string, way: LinkConnection["way"], secret: string): Verdict {
    const { host, own, roles } = this.#parts;
    let other: Introduction;
    try {
      const said = objectIn(hello);
      if (said.way !== way || said.binding !== bindingOf(secret))
        throw new ProtocolError("The proof is for another kind of connection");
      other = introductionIn(said);
    } catch (error) {
      return { status: 400, headers: {}, body: String(error) };
    }
    const welcome = JSON.stringify(own);
    const said = acceptorSays(challenge, hello, secret, welcome);
    const text = `${welcome}\n${host.sign(this.#keys[0].acceptor, said)}`;
    try {
      if (!roles.includes(other.role)) throw new WrongRoleError(other.role, roles);
      return { status: 101, welcome: text, other, version: commonVersion(own, other) };
    } catch {
      // The dialer comes to the same conclusion from this end's introduction.
      return { status: 403, headers: { [linkHeaders.refused]: "service" }, body: text };
    }
  }
}

/** Whether a proof is tied to its connection: with `tls`, it covers the connection's secret. */
type Binding = "tls" | "none";
const bindingOf = (secret: string): Binding => (secret === "" ? "none" : "tls");

/** The secret of this TLS connection, empty without TLS. Throws if it should have one and hasn't. */
function secretOf(tls: LinkTls | undefined): string {
  if (tls === undefined) return "";
  if ("lack" in tls) throw new BindingError(`${tls.lack}, ${orUntied}`);
  return tls.secret;
}

// Parts without line breaks, so that no two conversations have the same text.
const dialerSays = (challenge: string, hello: string, secret: string): string =>
  `${challenge}\n${hello}\n${secret}`;
const acceptorSays = (challenge: string, hello: string, secret: string, welcome: string): string =>
  `${dialerSays(challenge, hello, secret)}\n${welcome}`;

function proofsIn(list: string): readonly { readonly challenge: string; readonly proof: string }[] {
  return list
    .split(",", mostChallenges)
    .map((item) => item.trim())
    .map((item) => {
      const end = item.lastIndexOf(".");
      return { challenge: item.slice(0, Math.max(end, 0)), proof: item.slice(end + 1) };
    });
}

function commonVersion({ versions: ours }: Introduction, { versions: theirs }: Introduction) {
  const version = Math.min(ours[1], theirs[1]);
  if (version < Math.max(ours[0], theirs[0]))
    throw new HandshakeError(
      `The other end speaks versions ${theirs.join(" to ")} of the link, and this one ${ours.join(" to ")}: update one release at a time`,
    );
  return version;
}

const isVersion = (version: unknown): version is number =>
  Number.isInteger(version) && (version as number) > 0 && (version as number) < 65_536;
/** Roles, instances and builds go to logs and lists. */
const isName = (text: unknown): text is string =>
  typeof text === "string" && /^[\w.-]{1,128}$/.test(text);

/** Reads a proven introduction. Its sender may be of another release. */
function introductionIn(said: Readonly<Record<string, unknown>>): Introduction {
  const { versions: spoken, role, instance, build } = said;
  if (
    !Array.isArray(spoken) ||
    spoken.length !== 2 ||
    !spoken.every(isVersion) ||
    spoken[0]! > spoken[1]! ||
    !isName(role) ||
    !isName(instance) ||
    !(build === undefined || isName(build))
  )
    throw new ProtocolError("Invalid introduction in the handshake");
  return { versions: [spoken[0]!, spoken[1]!], role, instance, build };
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new ProtocolError("The introduction in the handshake isn't a JSON object");
}
