// What goes over links in memory, as requests: tests look at requests between services, whichever way they
// take.

import type { ChannelTap } from "../server/local/memory-links.ts";
import { sign } from "../server/http/host.ts";
import { serviceHeaders } from "../src/base/protocol.ts";
import { createCredentials } from "../src/http/trust.ts";
import { FrameReader, kinds, type OnFrame } from "../src/link/frames.ts";
import { readCallHead } from "../src/link/heads.ts";
import { bodyFollows, headIn } from "../src/link/payload.ts";

export interface SeenRequest {
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Reports the calls in both directions of a link. The frame says what a credential says over HTTP. */
export function linkTap(
  trustKey: string,
  own: string,
  seen: (request: SeenRequest) => void,
): (base: string) => ChannelTap {
  const credentials = createCredentials(trustKey, { sign, equalSecrets: (a, b) => a === b });
  const shown: Readonly<Record<number, Readonly<Record<string, string>>>> = {
    [kinds.callOutside]: credentials.fields("outside"),
    [kinds.callTrusted]: credentials.fields("service"),
    [kinds.callOwn]: { [serviceHeaders.trustKey]: trustKey },
  };
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
