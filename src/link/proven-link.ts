// From a channel to a link: first the handshake, and then calls.

import type { Clock, Host, HttpRequest, HttpResponse } from "../base/ports.ts";
import type { Credentials, TrustKey } from "../http/trust.ts";
import type { Channel } from "../base/ports/links.ts";
import { FrameReader, mostHandshakeBytes } from "./frames.ts";
import { FrameWriter } from "./frame-writer.ts";
import {
  Handshake,
  HandshakeError,
  type Introduction,
  versions,
  WrongKeyError,
} from "./handshake.ts";
import { Link } from "./link.ts";
import { answering, LinkPeer } from "./link-peer.ts";
import { addGoodbye, Goodbye } from "./payload.ts";
import { wheelOf } from "./alive/wheel.ts";

/** What a service brings to each of its links. */
export interface LinkService {
  readonly host: Pick<Host, "sign" | "equalSecrets" | "deriveKey"> & { readonly clock: Clock };
  readonly trustKey: TrustKey;
  readonly credentials: Credentials;
  readonly role: string;
  readonly instance: string;
  /** How often members check their health, if this is a gateway. */
  readonly healthIntervalMs?: number | undefined;
  /** How many calls this service takes at once over a link. */
  readonly mostCalls: number;
  readonly soon: (run: () => void) => void;
  readonly handle: (request: HttpRequest) => Promise<HttpResponse>;
  /** Gets errors of a handler, and why an answer can't be written. */
  readonly onFault?: (fault: unknown) => void;
  /** The versions of another release, for tests. */
  readonly versions?: Introduction["versions"] | undefined;
}

export interface ProvenLink {
  readonly peer: LinkPeer;
  readonly link: Link;
  readonly other: Introduction;
  /** Of the protocol, which both speak. */
  readonly version: number;
  /** Resolves when the other end takes no more calls. */
  readonly draining: Promise<void>;
  /** Resolves with the cause when the link is over. */
  readonly closed: Promise<unknown>;
}

/** For both ends to show that they have the key. */
const handshakeMs = 5_000;

/** Opens the link, whose ends have both shown the key. */
function linkOf(
  service: LinkService,
  channel: Channel,
  { isDialer, name, other }: Pick<ProveOptions, "isDialer" | "name"> & { other: Introduction },
  onCredit: () => void,
): Pick<ProvenLink, "link" | "peer" | "draining" | "closed"> {
  let over = (_: unknown): void => {};
  const closed = new Promise<unknown>((done) => (over = done));
  let drain = (): void => {};
  const draining = new Promise<void>((done) => (drain = done));
  const link: Link = new Link(channel, {
    name: name ?? `the ${other.role} ${other.instance}`,
    isDialer,
    mostCalls: service.mostCalls,
    wheel: wheelOf(service.host.clock),
    soon: service.soon,
    handle: (call) => answer(call),
    onFault: service.onFault ?? rethrow,
    onDraining: drain,
    onCredit,
    onClose: over,
  });
  const peer = new LinkPeer(link, other, service.credentials);
  const answer = answering(service.handle, peer);
  return { link, peer, draining, closed };
}

/** A mistake that nobody looks at ends the process, as elsewhere. */
function rethrow(fault: unknown): void {
  queueMicrotask(() => {
    throw fault;
  });
}

export interface ProveOptions {
  readonly isDialer: boolean;
  /** What both ends know of the channel without being told. */
  readonly connection: string;
  /** What the other end may be. */
  readonly roles: readonly string[];
  /** What errors call the other end [what it says it is]. */
  readonly name?: string | undefined;
}

/**
 * Resolves when both ends have shown the key, and the other one has said how many calls it takes.
 * Rejects, and closes the channel, if one of them can't, or takes longer than 5 s.
 */
export function proveLink(
  service: LinkService,
  channel: Channel,
  { isDialer, connection, roles, name }: ProveOptions,
): Promise<ProvenLink> {
  return new Promise((resolve, reject) => {
    let link: Link | undefined;
    let isOver = false;
    const fail = (error: unknown): void => {
      isOver = true;
      cancel();
      // The dialer has nothing to prove to itself any more: it has to be told.
      if (!isDialer && error instanceof WrongKeyError) {
        addGoodbye(writer, 0, error);
        channel.send(writer.take());
      }
      channel.close();
      reject(error);
    };
    const end = (error: unknown): void => {
      if (link === undefined) fail(error);
      else link.close(error);
    };
    const cancel = service.host.clock.after(handshakeMs, () =>
      end(new HandshakeError(`The other end hasn't shown the key in ${handshakeMs} ms`)),
    );
    const begin = (): Handshake =>
      new Handshake({
        host: service.host,
        trustKey: service.trustKey,
        own: {
          role: service.role,
          instance: service.instance,
          versions: service.versions ?? versions,
          healthIntervalMs: service.healthIntervalMs,
        },
        isDialer,
        roles,
        connection,
        send(kind, payload) {
          writer.add(kind, 0, payload.length).set(payload);
          writer.sendTo(channel);
        },
        onProven(other, version) {
          channel.trust?.();
          // Its first frame also tells a dialer that its own proof was good.
          const ready = (): void => {
            cancel();
            resolve({ ...opened, other, version });
          };
          const opened = linkOf(service, channel, { isDialer, name, other }, ready);
          link = opened.link;
          // Before its first frame, a goodbye is about this end's proof.
          void opened.closed.then((cause) =>
            reject(
              cause instanceof Goodbye
                ? new WrongKeyError(`${name} refuses this service's trustKey`)
                : cause,
            ),
          );
          // Frames of the link may follow the last one of the handshake, which nobody needs any more.
          reader.admit(link.onFrame);
          handshake = undefined;
        },
      });
    const writer = new FrameWriter();
    const reader = new FrameReader(
      (kind, _, payload) => handshake?.receive(kind, payload),
      mostHandshakeBytes,
    );
    let handshake: Handshake | undefined;
    try {
      handshake = begin();
    } catch (error) {
      return fail(error);
    }
    channel.open({
      onBytes(bytes) {
        if (isOver || link?.isClosed === true) return;
        try {
          reader.push(bytes);
          link?.heard();
        } catch (error) {
          end(error);
        }
      },
      onDrain: () => link?.drained(),
      onClose(cause) {
        const error = cause ?? new Error("The connection was closed");
        if (link === undefined) fail(error);
        else link.closed(error);
      },
    });
  });
}
