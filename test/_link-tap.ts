// Shows the traffic of links in memory as requests: tests look at requests between services, whichever way they
// take.

import type { ChannelTap } from "../server/local/memory-links.ts";
import { FrameReader, kinds, type OnFrame } from "../src/link/frames.ts";
import { readCallHead } from "../src/link/heads.ts";
import { bodyFollows, headIn } from "../src/link/payload.ts";

export interface SeenRequest {
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** The trust of the calls that the frames begin: it is shown as a field that no request of HTTP can have. */
const shown: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  [kinds.callOutside]: { ":from": "outside" },
  [kinds.callTrusted]: { ":from": "trusted" },
  [kinds.callService]: { ":from": "service" },
  [kinds.callOwn]: { ":from": "key" },
};

/** Reports the calls in both directions of a link. */
export function linkTap(
  own: string,
  seen: (request: SeenRequest) => void,
): (base: string) => ChannelTap {
  const reader = (to: string): FrameReader => {
    const uploads = new Map<number, SeenRequest>();
    const onFrame: OnFrame = (kind, stream, payload) => {
      const upload = uploads.get(stream);
      if (kind === kinds.chunk && upload !== undefined)
        upload.body += new TextDecoder().decode(payload);
      if (kind === kinds.end) uploads.delete(stream);
      const fields = shown[kind];
      if (fields === undefined) return;
      const { text, flags, rest } = headIn(payload);
      const { method, target, headers } = readCallHead(text);
      const isStream = (flags & bodyFollows) !== 0;
      // Files in a call, and lists: they are streams only here.
      const isUpload =
        isStream &&
        (String(headers["content-type"]).startsWith("multipart/") ||
          target.startsWith("/nodes/lists/"));
      const request = {
        url: to + target,
        method,
        headers: { ...fields, ...(headers as Record<string, string>) },
        body: isUpload ? "" : isStream ? "(a stream)" : new TextDecoder().decode(rest),
      };
      if (isUpload) uploads.set(stream, request);
      seen(request);
    };
    return new FrameReader(onFrame);
  };
  return (base) => {
    const [there, back] = [reader(base), reader(own)];
    return { sent: (bytes) => there.push(bytes), received: (bytes) => back.push(bytes) };
  };
}
