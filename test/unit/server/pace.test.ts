// A turn of the event loop accepts one connection, so a new caller waits for as many turns as there are
// callers before it. What a turn moves of large answers is bounded.

import { createReadStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { HeldMemory } from "../../../server/host/held-memory.ts";
import { type HttpServer, listen } from "../../../server/http/http.ts";
import { Pace } from "../../../server/http/writing/pace.ts";
import { linkPath, linkProtocol } from "../../../server/http/links/upgrades.ts";
import type { LinkAnswer, LinkUpgrade } from "../../../src/base/ports/links.ts";
import type { HttpResponse } from "../../../src/base/ports.ts";
import { turnBytes, turnRefusals } from "../../../server/http/connection/limits.ts";

const MiB = 1024 * 1024;
const piece = 65_536;
/** Larger than a connection's buffers in the kernel. */
const large = 16 * MiB;

describe("what one turn of the event loop moves of large answers", () => {
  let folder: string;
  let server: HttpServer;
  let handle: () => HttpResponse;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "seamline-pace-"));
    await writeFile(join(folder, "large"), new Uint8Array(large));
    const options = { host: "127.0.0.1", port: 0, memory: new HeldMemory(1_000 * MiB) };
    server = await listen(async () => handle(), options);
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    vi.restoreAllMocks();
  });
  afterAll(async () => {
    await server.close(0);
    await rm(folder, { recursive: true });
  });

  /** The most bytes that a turn has written while so many callers, who read nothing, were answered. */
  async function mostInATurn(callers: number): Promise<number> {
    let [inTurn, most, inAll] = [0, 0, 0];
    const write = ServerResponse.prototype.write;
    vi.spyOn(ServerResponse.prototype, "write").mockImplementation(function (
      this: ServerResponse,
      ...[bytes, ...rest]: Parameters<typeof write>
    ) {
      inTurn += (bytes as Uint8Array).length;
      return write.call(this, bytes, ...rest);
    } as typeof write);
    const port = Number(new URL(server.url).port);
    for (let count = 0; count < callers; count++) {
      const socket = connect(port, "127.0.0.1");
      socket.pause();
      socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
      sockets.push(socket);
    }
    // Until the kernel takes no more.
    for (let quiet = 0; quiet < 200 || inAll < callers * piece; quiet++) {
      inTurn = 0;
      await new Promise((turn) => setImmediate(turn));
      if (inTurn > 0) quiet = 0;
      most = Math.max(most, inTurn);
      inAll += inTurn;
    }
    return most;
  }

  async function* parts(): AsyncGenerator<Uint8Array> {
    for (let count = 0; count < large / piece; count++) yield new Uint8Array(piece);
  }

  async function* onePart(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(large);
  }

  it.each<readonly [string, () => NonNullable<HttpResponse["body"]>]>([
    ["texts", () => "x".repeat(large)],
    ["bytes", () => new Uint8Array(large)],
    ["files", () => createReadStream(join(folder, "large"))],
    ["streams", parts],
    ["streams of one large part", onePart],
  ])("is bounded if they are %s, however many callers there are", async (_, body) => {
    handle = () => ({ status: 200, headers: {}, body: body() });
    // The rest of one turn, and then the share of the next one.
    expect(await mostInATurn(12)).toBeLessThanOrEqual(2 * turnBytes);
  });
});

describe("strangers who ask for a link again and again", () => {
  it("are refused a few in a turn of the event loop, so that others are accepted", async () => {
    const strangers = 60;
    const count = { inTurn: 0, refused: 0 };
    const newcomer: number[] = [];
    const acceptLink = ({ headers }: LinkUpgrade): LinkAnswer => {
      count.inTurn++;
      count.refused++;
      if (headers["x-newcomer"] !== undefined) newcomer.push(count.refused);
      return { status: 401, headers: {}, body: "" };
    };
    const handle = async (): Promise<HttpResponse> => ({ status: 200, headers: {} });
    const server = await listen(handle, { host: "127.0.0.1", port: 0, acceptLink });
    const request = `GET ${linkPath} HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: ${linkProtocol}\r\n\r\n`;
    const ask = (text: string): Socket => {
      const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
      socket.write(text);
      return socket.on("data", () => socket.write(text));
    };
    const sockets = Array.from({ length: strangers }, () => ask(request));
    let most = 0;
    while (count.refused < 20 * strangers) {
      count.inTurn = 0;
      await new Promise((turn) => setImmediate(turn));
      // By then all are connected, and have been refused.
      if (count.refused > 3 * strangers) most = Math.max(most, count.inTurn);
    }
    // A service comes back with its proof after the first refusal: no other is before it then.
    sockets.push(ask(request.replace("Host: a", "Host: a\r\nX-Newcomer: yes")));
    while (newcomer.length < 2) await new Promise((turn) => setImmediate(turn));
    for (const socket of sockets) socket.destroy();
    await server.close(0);
    expect(newcomer[1]! - newcomer[0]!).toBeLessThan(strangers / 2);
    // The rest of one turn, and then the share of the next one.
    expect(most).toBeLessThanOrEqual(2 * turnRefusals);
  });
});

describe("pieces of large answers", () => {
  const turns: (() => void)[] = [];
  const turn = async (): Promise<void> => {
    for (const next of turns.splice(0)) next();
    await Promise.resolve();
  };
  const start = (pace: Pace, name: string, length: number, written: string[]): void => {
    const place = pace.piece(length);
    if (place === undefined) written.push(name);
    else void place.then(() => written.push(name));
  };

  it("leave at once while the turn has room for them, the others in later turns, in the order in which they came", async () => {
    const pace = new Pace(turnBytes, (next) => turns.push(next));
    const written: string[] = [];
    for (const name of ["a", "b", "c", "d", "e"]) start(pace, name, turnBytes / 2, written);
    expect(written).toEqual(["a", "b"]);
    await turn();
    expect(written).toEqual(["a", "b", "c", "d"]);
    // Behind one that waits, even if it is small.
    start(pace, "f", 1, written);
    expect(written).toEqual(["a", "b", "c", "d"]);
    await turn();
    expect(written).toEqual(["a", "b", "c", "d", "e", "f"]);
  });

  it("leave in whole if they are longer than what a turn moves, one in a turn", async () => {
    const pace = new Pace(turnBytes, (next) => turns.push(next));
    const written: string[] = [];
    for (const name of ["a", "b"]) start(pace, name, 3 * turnBytes, written);
    expect(written).toEqual(["a"]);
    await turn();
    expect(written).toEqual(["a", "b"]);
  });

  it("leave the event loop alone once none is written", async () => {
    const pace = new Pace(turnBytes, (next) => turns.push(next));
    start(pace, "a", turnBytes, []);
    await turn();
    await turn();
    expect(turns).toEqual([]);
    start(pace, "b", turnBytes, []);
    expect(turns).toHaveLength(1);
    turns.length = 0;
  });
});
