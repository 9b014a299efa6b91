// One public file → its answer (§4.3): @fastify/send knows ranges, conditions and media types; compression is added here.

import { realpath, readFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import send from "@fastify/send";
import type { HttpRequest, HttpResponse } from "../src/ports.ts";
import { mediaTypes } from "../src/protocol.ts";
import { slicesOf } from "./slices.ts";

/** A file that anyone may have. */
export interface PublicFile {
  /** Real path: no part of it is a symbolic link. */
  readonly path: string;
  /** Its name holds a hash of its content, so it never changes. */
  readonly immutable: boolean;
}

/** Answers requests for files, and keeps what it has compressed. */
export interface FileAnswers {
  /** `undefined` when the file is gone, so that the caller answers as for one that never was. */
  answer(file: PublicFile, request: HttpRequest): Promise<HttpResponse | undefined>;
}

type Coding = "br" | "gzip";

// The last two of JavaScript and of what is like JSON or XML, as IANA names them.
const compressible =
  /^(?:text\/|application\/(?:javascript|node|json|xml|wasm|[\w.-]+\+(?:json|xml))|image\/svg\+xml|image\/vnd\.microsoft\.icon)/;
// Under it a packet is sent either way; over it the work and the memory are better left to something in front.
const worthwhile = { from: 1_024, to: 8 * 1024 * 1024 };
// All compressed bytes that are kept, of all files.
const mostKept = 64 * 1024 * 1024;

const compress: Readonly<Record<Coding, (bytes: Buffer) => Promise<Buffer>>> = {
  // 9 of 11: within a few per cent of the best at a tenth of the time.
  br: (bytes) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 9,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 9 }),
};

/** One for each service: the compressed bytes are kept in it. */
export function createFileAnswers(): FileAnswers {
  // Compressed once, also when many ask at once; `undefined` in it: not smaller. The oldest go first.
  const kept = new Map<string, { tag: string; bytes: Promise<Buffer | undefined>; size: number }>();
  let total = 0;

  const drop = (key: string): void => {
    total -= kept.get(key)?.size ?? 0;
    kept.delete(key);
  };

  const compressed = (path: string, tag: string, coding: Coding): Promise<Buffer | undefined> => {
    const key = `${coding} ${path}`;
    const found = kept.get(key);
    if (found?.tag === tag) return found.bytes;
    drop(key);
    const bytes = readFile(path).then(async (plain) => {
      const packed = await compress[coding](plain);
      return packed.length < plain.length ? packed : undefined;
    });
    const entry = { tag, bytes, size: 0 };
    kept.set(key, entry);
    bytes.then(
      (packed) => {
        if (kept.get(key) !== entry) return;
        entry.size = packed?.length ?? 0;
        total += entry.size;
        for (const oldest of kept.keys()) if (total > mostKept) drop(oldest);
      },
      () => kept.get(key) === entry && drop(key),
    );
    return bytes;
  };

  return {
    async answer(file, request) {
      // Since the map was made somebody may have put a link in its place.
      if ((await realpath(file.path).catch(() => undefined)) !== file.path) return undefined;
      if (request.method !== "GET" && request.method !== "HEAD")
        return {
          status: 405,
          headers: { ...common, allow: "GET, HEAD", "content-type": mediaTypes.text },
          body: "Method not allowed",
        };
      const type = send.mime.getType(file.path) ?? mediaTypes.bytes;
      const codable = compressible.test(type);
      // RFC 9239: the one name that JavaScript has, whatever the tables say.
      const script = /^application\/(?:javascript|node)$/.test(type);
      // A range counts the bytes of the file itself, so it is answered from them.
      const coding =
        codable && rangeOf(request) === undefined
          ? codingFor(request.headers["accept-encoding"])
          : undefined;
      const fields: Record<string, string> = {
        ...common,
        "cache-control": file.immutable ? "public, max-age=31536000, immutable" : "no-cache",
        ...(codable ? { vary: "accept-encoding" } : {}),
      };
      // Asked as for HEAD it opens nothing, where the bytes will come from elsewhere.
      const method = coding === undefined ? request.method : "HEAD";
      let found = await ask(file.path, method, request);
      // The last bytes, more than there are: that is all of them (RFC 9110 §14.1.2).
      if (
        found.type === "error" &&
        found.statusCode === 416 &&
        /^bytes=-0*[1-9]\d*$/i.test(rangeOf(request) ?? "")
      )
        found = await ask(file.path, method, {
          ...request,
          headers: { ...request.headers, range: "bytes=0-" },
        });
      if (found.type === "error")
        return found.statusCode === 412 || found.statusCode === 416
          ? refusal(found, fields)
          : undefined;
      for (const [name, value] of Object.entries(found.headers)) fields[name.toLowerCase()] = value;
      if (found.statusCode === 304) return { status: 304, headers: fields };
      if (script) fields["content-type"] = mediaTypes.script;
      // With nosniff, browsers make nothing of a file that has no type at all.
      fields["content-type"] ??= type;
      const size = Number(fields["content-length"]);
      // It comes as a number, whatever its type says.
      fields["content-length"] = `${size}`;
      if (coding === undefined)
        return { status: found.statusCode, headers: fields, body: found.stream };
      const fits = size >= worthwhile.from && size <= worthwhile.to;
      const packed = fits ? await compressed(file.path, fields["etag"] ?? "", coding) : undefined;
      if (packed !== undefined) {
        const headers = {
          ...fields,
          "content-length": String(packed.length),
          "content-encoding": coding,
        };
        return { status: 200, headers, body: slicesOf(packed) };
      }
      const plain = request.method === "HEAD" ? found : await ask(file.path, "GET", request);
      return plain.type === "file"
        ? { status: 200, headers: fields, body: plain.stream }
        : undefined;
    },
  };
}

const common = { "x-content-type-options": "nosniff" } as const;

async function ask(path: string, method: string, request: HttpRequest): Promise<send.SendResult> {
  // It reads method and headers of a request, and no more.
  const asked = {
    method,
    headers: { ...request.headers, range: rangeOf(request) },
  } as unknown as Readable;
  // The path is one of ours, and known: what `send` would look up, guard or complete is settled already.
  return await send(asked, `/${encodeURIComponent(basename(path))}`, {
    root: dirname(path),
    dotfiles: "allow",
    index: false,
    cacheControl: false,
  });
}

/** The range that is asked for. What is no range is to be passed over, and not to be refused (RFC 9110 §14.2). */
function rangeOf({ headers: { range } }: HttpRequest): string | undefined {
  if (typeof range !== "string" || !/^bytes=[\s\d,-]+$/i.test(range)) return undefined;
  const valid = range
    .slice("bytes=".length)
    .split(",")
    .every((one) => {
      const [, first = "", last = ""] = /^\s*(\d*)-(\d*)\s*$/.exec(one) ?? [];
      return first === "" || last === "" ? first !== last : Number(first) <= Number(last);
    });
  return valid ? range : undefined;
}

function refusal(found: send.SendResult, fields: Readonly<Record<string, string>>): HttpResponse {
  const range = found.headers["Content-Range"];
  return {
    status: found.statusCode,
    headers: {
      ...fields,
      "content-type": mediaTypes.text,
      ...(range === undefined ? {} : { "content-range": range }),
    },
    body: found.statusCode === 412 ? "Precondition failed" : "Range not satisfiable",
  };
}

/** The coding that a caller likes best, of those that are to be had; brotli where two are liked alike (RFC 9110 §12.5.3, without `*`). */
function codingFor(accepted: string | readonly string[] | undefined): Coding | undefined {
  if (typeof accepted !== "string") return undefined;
  const likings = new Map<string, number>();
  for (const one of accepted.split(",")) {
    const [name = "", ...parameters] = one.split(";").map((part) => part.trim().toLowerCase());
    const weight = parameters.find((part) => part.startsWith("q="));
    likings.set(name, weight === undefined ? 1 : Number(weight.slice(2)));
  }
  const liking = (name: string): number => likings.get(name) ?? 0;
  const best: Coding = liking("gzip") > liking("br") ? "gzip" : "br";
  // As it is only where the caller says that he likes that better.
  return liking(best) > 0 && liking(best) >= liking("identity") ? best : undefined;
}
