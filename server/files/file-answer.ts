// Answers a request for one public file. @fastify/send handles ranges, conditions and media types;
// compression is added here.

import { realpath, readFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import send from "@fastify/send";
import type { HttpRequest, HttpResponse } from "../../src/base/ports.ts";
import { mediaTypes } from "../../src/base/protocol.ts";
import { hasTag } from "../../src/http/entity-tags.ts";
import type { HeldFile } from "./held-file.ts";
import { type Coding, codingFor } from "../http/writing/content-coding.ts";
import { slicesOf } from "../http/writing/slices.ts";

/** A file that anyone may fetch. */
export interface PublicFile {
  /** Real path: no part of it is a symbolic link. */
  readonly path: string;
  /** Its name contains a hash of its content, so it never changes. */
  readonly immutable: boolean;
  /** The contents at the start of the service, served instead of the current ones. */
  readonly held?: HeldFile | undefined;
}

/** Answers requests for files, with a cache of compressed ones. */
export interface FileAnswers {
  /** `undefined` if the file is gone, so that the caller answers as if it had never existed. */
  answer(file: PublicFile, request: HttpRequest): Promise<HttpResponse | undefined>;
}

// `application/node` is CommonJS; `+json` and `+xml` are IANA's suffixes.
const compressible =
  /^(?:text\/|application\/(?:javascript|node|json|xml|wasm|[\w.-]+\+(?:json|xml))|image\/svg\+xml|image\/vnd\.microsoft\.icon)/;
const isUtf8 = /^(?:text\/|application\/(?:javascript|json))/;
// Smaller files fit into one packet anyway; larger ones are better compressed by a proxy in front.
const compressedBytes = { from: 1_024, to: 8 * 1024 * 1024 };
// The limit for all compressed files together.
const maxCacheBytes = 64 * 1024 * 1024;

// Quality 11 takes 7 % off the scripts of an application, and 3 s for a megabyte.
const mostBestBytes = 512 * 1024;

const brotli = async (bytes: Buffer, quality: number): Promise<Buffer> =>
  await promisify(brotliCompress)(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: quality,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });

const compress: Readonly<Record<Coding, (bytes: Buffer) => Promise<Buffer>>> = {
  // 9 of 11: the caller waits for it.
  br: (bytes) => brotli(bytes, 9),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 9 }),
};

interface CompressedFile {
  readonly tag: string;
  bytes: Promise<Buffer | undefined>;
  size: number;
  /** It can't become smaller. */
  isBest: boolean;
}

/** Services load it with the first request for a file: see lazy-file-answers.ts. */
export function createFileAnswers(): FileAnswers {
  // Promises, so that concurrent requests compress only once; `undefined` if the result isn't
  // smaller. The oldest go first.
  const cache = new Map<string, CompressedFile>();
  let total = 0;
  let isImproving = false;

  const drop = (key: string): void => {
    total -= cache.get(key)?.size ?? 0;
    cache.delete(key);
  };

  /** Makes a file that is asked for again as small as possible, one at a time. */
  const improve = async (
    key: string,
    file: CompressedFile,
    read: () => Promise<Buffer>,
  ): Promise<void> => {
    isImproving = true;
    file.isBest = true;
    try {
      const plain = await read();
      if (plain.length > mostBestBytes) return;
      const best = await brotli(plain, 11);
      if (cache.get(key) !== file || best.length >= file.size) return;
      total += best.length - file.size;
      file.size = best.length;
      file.bytes = Promise.resolve(best);
    } catch {
      // The file was removed, and is answered as such.
    } finally {
      isImproving = false;
    }
  };

  const compressed = (
    { path, held }: PublicFile,
    tag: string,
    coding: Coding,
  ): Promise<Buffer | undefined> => {
    const key = `${coding} ${path}`;
    const read = async (): Promise<Buffer> => held?.bytes ?? (await readFile(path));
    const found = cache.get(key);
    if (found?.tag === tag) {
      // Without a size, it isn't there yet, or isn't smaller than the file.
      if (coding === "br" && !isImproving && !found.isBest && found.size > 0)
        void improve(key, found, read);
      return found.bytes;
    }
    drop(key);
    const bytes = read().then(async (plain) => {
      const packed = await compress[coding](plain);
      return packed.length < plain.length ? packed : undefined;
    });
    const entry: CompressedFile = { tag, bytes, size: 0, isBest: false };
    cache.set(key, entry);
    bytes.then(
      (packed) => {
        if (cache.get(key) !== entry) return;
        entry.size = packed?.length ?? 0;
        total += entry.size;
        for (const oldest of cache.keys()) if (total > maxCacheBytes) drop(oldest);
      },
      () => cache.get(key) === entry && drop(key),
    );
    return bytes;
  };

  return {
    async answer(file, request) {
      // The file may have been replaced by a link since the map was made.
      if (
        file.held === undefined &&
        (await realpath(file.path).catch(() => undefined)) !== file.path
      )
        return undefined;
      if (request.method !== "GET" && request.method !== "HEAD")
        return {
          status: 405,
          headers: { ...common, allow: "GET, HEAD", "content-type": mediaTypes.text },
          body: "Method not allowed",
        };
      if (failsMatch(request))
        return {
          status: 412,
          headers: { ...common, "content-type": mediaTypes.text },
          body: failed,
        };
      const type = send.mime.getType(file.path) ?? mediaTypes.bytes;
      const codable = compressible.test(type);
      // RFC 9239: JavaScript has one media type, whatever the tables say.
      const script = /^application\/(?:javascript|node)$/.test(type);
      // A range is in bytes of the uncompressed file.
      const coding =
        codable && rangeOf(request) === undefined
          ? codingFor(request.headers["accept-encoding"], ["br", "gzip"])
          : undefined;
      const fields: Record<string, string> = {
        ...common,
        "cache-control": file.immutable ? "public, max-age=31536000, immutable" : "no-cache",
        ...(codable ? { vary: "accept-encoding" } : {}),
      };
      if (file.held !== undefined) {
        const { bytes, etag } = file.held;
        fields["etag"] = etag;
        if (hasTag(request.headers, file.held.etag)) return { status: 304, headers: fields };
        const isPacked = coding !== undefined && isWorthPacking(bytes.length);
        const packed = isPacked ? await compressed(file, etag, coding) : undefined;
        // The same as `send` does.
        fields["content-type"] = isUtf8.test(type) ? `${type}; charset=utf-8` : type;
        if (script) fields["content-type"] = mediaTypes.script;
        if (packed !== undefined && coding !== undefined) fields["content-encoding"] = coding;
        fields["content-length"] = String((packed ?? bytes).length);
        return { status: 200, headers: fields, body: slicesOf(packed ?? bytes) };
      }
      // For HEAD, `send` doesn't open the file: the bytes come from the cache.
      const method = coding === undefined ? request.method : "HEAD";
      let found = await ask(file.path, method, request);
      // A suffix range longer than the file means the whole file (RFC 9110, section 14.1.2).
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
      // With nosniff, browsers can't use a file without a type.
      fields["content-type"] ??= type;
      const size = Number(fields["content-length"]);
      // At run time it is a number, despite its type.
      fields["content-length"] = `${size}`;
      if (coding === undefined)
        return { status: found.statusCode, headers: fields, body: found.stream };
      const packed = isWorthPacking(size)
        ? await compressed(file, fields["etag"] ?? "", coding)
        : undefined;
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

function isWorthPacking(size: number): boolean {
  return size >= compressedBytes.from && size <= compressedBytes.to;
}

const common = { "x-content-type-options": "nosniff" } as const;

async function ask(path: string, method: string, request: HttpRequest): Promise<send.SendResult> {
  const { "if-match": tags, "if-unmodified-since": date } = request.headers;
  // `send` only reads method and headers of a request.
  const plainRequest = {
    method,
    headers: {
      ...request.headers,
      range: rangeOf(request),
      // A date doesn't count beside tags (RFC 9110, section 13.1.4).
      "if-unmodified-since": tags === undefined ? date : undefined,
      // With `no-cache` it would send the file again although the caller has it, as RFC 2616 wanted.
      "cache-control": "",
    },
  } as unknown as Readable;
  // The path is known and safe, so `send` has nothing to guard or complete.
  return await send(plainRequest, `/${encodeURIComponent(basename(path))}`, {
    root: dirname(path),
    dotfiles: "allow",
    index: false,
    cacheControl: false,
  });
}

const failed = "Precondition failed";

/**
 * Whether the request needs a tag that the file can't have: `if-match` compares strongly, and all tags of files are
 * weak (RFC 9110, section 13.1.1).
 */
function failsMatch({ headers: { "if-match": tags } }: HttpRequest): boolean {
  return tags !== undefined && String(tags).trim() !== "*";
}

/**
 * The requested range. An invalid one must be ignored, and not refused, and so must that of a HEAD
 * (RFC 9110, section 14.2), and one for a file with a tag, as ours are weak (section 13.1.5).
 */
function rangeOf({ method, headers }: HttpRequest): string | undefined {
  const { range, "if-range": condition = "" } = headers;
  if (method !== "GET" || String(condition).includes('"')) return undefined;
  if (typeof range !== "string" || !/^bytes=[\s\d,-]+$/i.test(range)) return undefined;
  const valid = range
    .slice("bytes=".length)
    .split(",")
    .every((part) => {
      const [, first = "", last = ""] = /^\s*(\d*)-(\d*)\s*$/.exec(part) ?? [];
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
    body: found.statusCode === 412 ? failed : "Range not satisfiable",
  };
}
