// From a connection to a link: both ends prove the key (handshake.ts), then calls can go.

import type { Clock, Host, HttpRequest, HttpResponse } from "../base/ports.ts";
import type {
  Channel,
  ChannelReceiver,
  LinkAnswer,
  LinkDialing,
  LinkUpgrade,
} from "../base/ports/links.ts";
import type { TrustKey } from "../http/trust.ts";
import { takenFrom } from "./directions.ts";
import { FrameWriter } from "./frame-writer.ts";
import { FrameReader, kinds, ProtocolError } from "./frames.ts";
import {
  Acceptor,
  type AcceptorParts,
  Dialer,
  HandshakeError,
  type Introduction,
  type ProvenEnd,
  versions,
} from "./handshake.ts";
import { Link } from "./link.ts";
import { answering, LinkPeer } from "./link-peer.ts";
import { welcomeMs } from "./times.ts";
import { mostHandshakeBytes } from "./limits.ts";

/** The settings that a service passes to each of its links. */
export interface LinkService {
  readonly host: Pick<Host, "sign" | "equalSecrets" | "deriveKey"> & { readonly clock: Clock };
  readonly trustKey: TrustKey;
  /** `false`: something between the two ends of a link ends TLS [true]. */
  readonly endToEndTls?: boolean | undefined;
  readonly role: string;
  readonly instance: string;
  /** The build that it runs at the moment, if it runs one. */
  readonly build?: (() => string | undefined) | undefined;
  /** How many calls this service takes at once over a link. */
  readonly mostCalls: number;
  readonly soon: (run: () => void) => void;
  readonly handle: (request: HttpRequest) => Promise<HttpResponse>;
  readonly sending?: NonNullable<Host["links"]>["sending"];
  /** Gets errors of a handler, and of writing its answer. */
  readonly onFault?: (fault: unknown) => void;
  /** Gets the error of a call whose answer HTTP can't carry. */
  readonly onBadAnswer?: (error: Error) => void;
  /** The versions of another release, for tests. */
  readonly versions?: Introduction["versions"] | undefined;
}

export interface ProvenLink extends ProvenEnd {
  readonly peer: LinkPeer;
  readonly link: Link;
  /** The IP address of the other end, if it has one. */
  readonly address: string | undefined;
  /** Resolves when the other end takes no more calls. */
  readonly draining: Promise<void>;
  /** Resolves with the cause when the link is over. */
  readonly closed: Promise<unknown>;
}

function introductionOf(service: LinkService): Introduction {
  const { role, instance, build } = service;
  return {
    versions: service.versions ?? versions,
    role,
    instance,
    build: build?.(),
  };
}

/** Opens the link once both ends have proven the key. */
function linkOf(
  service: LinkService,
  channel: Channel,
  end: ProvenEnd,
  dialed?: { readonly name: string; readonly onCredit: () => void },
): ProvenLink {
  const { other } = end;
  let over = (_: unknown): void => {};
  const closed = new Promise<unknown>((done) => (over = done));
  let drain = (): void => {};
  const draining = new Promise<void>((done) => (drain = done));
  const link: Link = new Link(channel, {
    name: dialed?.name ?? `the ${other.role} ${other.instance}`,
    isDialer: dialed !== undefined,
    mostCalls: service.mostCalls,
    takes: takenFrom({ role: service.role, isDialer: dialed !== undefined }, other.role),
    clock: service.host.clock,
    soon: service.soon,
    handle: (call) => answer(call),
    onFault: service.onFault ?? rethrow,
    // The caller has been told.
    onBadAnswer: service.onBadAnswer ?? (() => {}),
    onDraining: drain,
    ...(dialed && { onCredit: dialed.onCredit }),
    onClose: over,
  });
  const peer = new LinkPeer(link, other, service.sending);
  const answer = answering(service.handle, peer);
  return { ...end, link, peer, address: channel.address, draining, closed };
}

/** An unhandled fault ends the process, as elsewhere. */
function rethrow(fault: unknown): void {
  queueMicrotask(() => {
    throw fault;
  });
}

/** Reads frames. `link` returns the link once there is one; `fail` is called if there won't be. */
function receiverOf(
  reader: FrameReader,
  link: () => Link | undefined,
  fail: (error: unknown) => void,
): ChannelReceiver {
  return {
    onBytes(bytes) {
      if (link()?.isClosed === true) return;
      try {
        reader.push(bytes);
        link()?.heard();
      } catch (error) {
        const opened = link();
        if (opened === undefined) fail(error);
        else opened.close(error);
      }
    },
    onDrain: () => link()?.drained(),
    onClose(cause = new Error("The connection was closed")) {
      const opened = link();
      if (opened === undefined) fail(cause);
      else opened.closed(cause);
    },
  };
}

/** Which roles may dial a service, and callbacks for the outcome. */
export interface AcceptingParts extends Pick<AcceptorParts, "roles" | "onRefusal"> {
  readonly onLink: (link: ProvenLink) => void;
}

/** Returns a function that answers requests for a link. Throws without a trust key. */
export function createAccepting(
  service: LinkService,
  { roles, onRefusal, onLink }: AcceptingParts,
): (upgrade: LinkUpgrade) => LinkAnswer {
  const { host, trustKey, endToEndTls } = service;
  const acceptor = new Acceptor({
    host,
    trustKey,
    endToEndTls,
    // A build is known once its service has started.
    get own() {
      return introductionOf(service);
    },
    roles,
    onRefusal,
  });
  return (upgrade) => {
    const verdict = acceptor.answer(upgrade);
    if (!("welcome" in verdict)) return verdict;
    const { welcome, ...end } = verdict;
    return {
      status: 101,
      open(channel) {
        const payload = new TextEncoder().encode(welcome);
        const writer = new FrameWriter();
        writer.add(kinds.welcome, 0, payload.length).set(payload);
        writer.sendTo(channel);
        const opened = linkOf(service, channel, end);
        const { link } = opened;
        const reader = new FrameReader(link.onFrame);
        channel.open(
          receiverOf(
            reader,
            () => link,
            (error) => link.close(error),
          ),
        );
        onLink(opened);
      },
    };
  };
}

export interface DialParts {
  /** Roles that the other end may have. */
  readonly roles: readonly string[];
  /** The other end's name in errors. */
  readonly name: string;
  /** Asks it for a link, and resolves with its channel. */
  readonly dial: (dialing: LinkDialing) => Promise<Channel>;
}

/**
 * Resolves when both ends have proven the key and the other end has announced its limit of calls. Rejects, and
 * closes the channel, if a proof fails or the other end sends nothing for 5 s.
 */
export async function dialLink(
  service: LinkService,
  { roles, name, dial }: DialParts,
): Promise<ProvenLink> {
  const { host, trustKey, endToEndTls } = service;
  const own = introductionOf(service);
  const dialer = new Dialer({ host, trustKey, endToEndTls, own, roles });
  const channel = await dial(dialer);
  return await new Promise((resolve, reject) => {
    let link: Link | undefined;
    let isOver = false;
    const fail = (error: unknown): void => {
      isOver = true;
      cancel();
      channel.close();
      reject(error);
    };
    const cancel = host.clock.after(welcomeMs, () => {
      const error = new HandshakeError(`The other end hasn't shown the key in ${welcomeMs} ms`);
      if (link === undefined) fail(error);
      else link.close(error);
    });
    const reader = new FrameReader((kind, _, payload) => {
      if (isOver) return;
      if (kind !== kinds.welcome) throw new ProtocolError(`A frame ${kind} before the welcome`);
      const end = dialer.welcomed(new TextDecoder().decode(payload));
      const onCredit = (): void => {
        cancel();
        resolve(opened);
      };
      const opened: ProvenLink = linkOf(service, channel, end, { name, onCredit });
      link = opened.link;
      void opened.closed.then((cause) => {
        cancel();
        reject(cause);
      });
      // Frames of the link may have come with this one.
      reader.admit(link.onFrame);
    }, mostHandshakeBytes);
    channel.open(receiverOf(reader, () => link, fail));
  });
}
