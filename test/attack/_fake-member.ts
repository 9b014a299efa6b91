// A member of a gateway that proves the key and then speaks frames itself, so that it can send answers that
// no service of ours would.

import { onTestFinished } from "vitest";

import { nodeHost } from "../../server/http/host.ts";
import type { Channel, LinkDialing } from "../../src/base/ports/links.ts";
import { FrameReader, kinds } from "../../src/link/frames.ts";
import { FrameWriter } from "../../src/link/frame-writer.ts";
import { Dialer } from "../../src/link/handshake.ts";
import { callHead, readCallHead } from "../../src/link/heads.ts";
import { addHeadFrame, headIn } from "../../src/link/payload.ts";
import { key } from "../_deployment.ts";

/** What it sends: the text of a head, and a body with it, or parts of one that follow. */
export interface RawAnswer {
  readonly head: string;
  readonly body?: string | readonly string[];
}

export interface FakeMember {
  /** Whether the gateway has ended the link. */
  readonly isClosed: boolean;
  /** Answers a call that `answer` gave nothing for. */
  release(target: string, answer: RawAnswer): void;
}

/** Joins a gateway as the member at `url`. `answer` says what it sends for a path, if anything. */
export async function joinAsMember(
  url: string,
  procedures: readonly string[],
  dial: (dialing: LinkDialing) => Promise<Channel>,
  answer: (target: string) => RawAnswer | undefined,
): Promise<FakeMember> {
  const dialer = new Dialer({
    host: nodeHost(),
    trustKey: key,
    own: { versions: [1, 1], role: "node", instance: "fake" },
    roles: ["gateway"],
  });
  const channel = await dial(dialer);
  const writer = new FrameWriter();
  const waiting = new Map<string, number>();
  let isClosed = false;
  let joined = (_: string): void => {};
  const joining = new Promise<string>((resolve) => (joined = resolve));
  const send = (stream: number, { head, body = "" }: RawAnswer): void => {
    const isWhole = typeof body === "string";
    addHeadFrame(writer, kinds.answer, stream, head, isWhole ? body : undefined);
    if (!isWhole) {
      for (const part of body) writer.addBytes(kinds.chunk, stream, new TextEncoder().encode(part));
      writer.addNumber(kinds.end, stream);
    }
    writer.sendTo(channel);
  };
  const reader = new FrameReader((kind, stream, payload) => {
    switch (kind) {
      case kinds.callOutside:
      case kinds.callTrusted:
      case kinds.callOwn: {
        const { target } = readCallHead(headIn(payload).text);
        const raw = target.startsWith("/rpc/") ? answer(target) : { head: "200", body: "true" };
        if (raw === undefined) waiting.set(target, stream);
        else send(stream, raw);
        return;
      }
      case kinds.answer:
        return joined(headIn(payload).text);
      case kinds.ping:
        writer.add(kinds.pong, 0, payload.length).set(payload);
        return writer.sendTo(channel);
      case kinds.goAway:
        isClosed = true;
        return;
      default:
        return;
    }
  });
  channel.open({
    onBytes: (bytes) => reader.push(bytes),
    onDrain() {},
    onClose: () => void (isClosed = true),
  });
  onTestFinished(() => channel.close());
  writer.addNumber(kinds.credit, 0, 100);
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ url, instance: "fake", procedures });
  const head = callHead({ method: "POST", target: "/nodes", headers });
  addHeadFrame(writer, kinds.callOwn, 1, head, body);
  writer.sendTo(channel);
  const answered = await joining;
  if (!answered.startsWith("201")) throw new Error(`The member can't join: ${answered}`);
  return {
    get isClosed() {
      return isClosed;
    },
    release(target, raw) {
      const stream = waiting.get(target);
      if (stream === undefined) throw new Error(`Nobody waits for ${target}`);
      waiting.delete(target);
      send(stream, raw);
    },
  };
}
