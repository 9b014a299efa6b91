// The edge of each service by raw connections: bytes split anywhere, requests behind each other,
// lengths and chunks that lie, callers that leave.

import { mutateBytes, oddTexts } from "../mutate.ts";
import type { Random } from "../random.ts";
import { answersIn, type Delivery, deliver, longestMs, validRequest } from "../services/raw.ts";
import { Finding, leak, type Target } from "../target.ts";

/** Services behind sockets. */
export interface EdgeServices {
  readonly ports: Readonly<Record<string, number>>;
  /** Throws if a process has ended. */
  check?(): void;
  /** Heap after a collection, by service. */
  heap?(): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}

/** Connections at once. */
const batch = 32;
const aliveMs = 1_500;
/** Memory is looked at after so many batches. */
const sampleBatches = 50;
/** The growth that is allowed between a third of the inputs and the end. */
const growthBytes = 4_000_000;
const growthShare = 1.15;

const headPieces: readonly string[] = [
  ...oddTexts,
  "\r",
  "\n",
  "\r\n\r\n",
  " HTTP/1.1",
  " HTTP/1.0",
  " HTTP/2.0",
  "Content-Length: 5\r\n",
  "Content-Length: -1\r\n",
  "Transfer-Encoding: chunked\r\n",
  "Transfer-Encoding: gzip, chunked\r\n",
  "Connection: close\r\n",
  "Connection: upgrade\r\nUpgrade: websocket\r\n",
  "Expect: 100-continue\r\n",
  "Expect: x\r\n",
  "Host: a, b\r\n",
  "x-svc-hops: 9\r\n",
  "x-svc-data-encoding: superjson\r\n",
  "X: ",
  "GET ",
  "POST ",
  "CONNECT a:1 ",
  "OPTIONS * ",
  "PRI * ",
  "\x16\x03\x01",
];

const chunkPieces = [
  "\r\n",
  "0\r\n\r\n",
  "fffffffffffffffff",
  "-1",
  " ",
  ";",
  "5\r\n",
  "\n",
  "zz",
  "\0",
];

interface Attempt {
  readonly kind: string;
  readonly bytes: Buffer;
  readonly delivery: Delivery;
  /** Statuses of the answers; 0 stands for any but a fault. */
  readonly expected?: readonly number[];
  readonly bodies?: readonly (string | undefined)[];
}

function attemptOf(random: Random): Attempt {
  const request = validRequest(random);
  const text = request.head + request.body;
  const bytes = Buffer.from(text, "latin1");
  const whole = { expected: [request.status], bodies: [request.answer] };
  switch (random.below(9)) {
    case 0: {
      const splits = [random.below(bytes.length), random.below(bytes.length)].sort((a, b) => a - b);
      return { kind: "split", bytes, delivery: { splits, ending: "wait", answers: 1 }, ...whole };
    }
    case 1: {
      const splits = Array.from(bytes, (_, at) => at);
      return {
        kind: "byte by byte",
        bytes,
        delivery: { splits, ending: "wait", answers: 1 },
        ...whole,
      };
    }
    case 2: {
      const prefix = bytes.subarray(0, random.below(bytes.length + 1));
      const ending = random.pick(["destroy", "reset", "half-close"] as const);
      return { kind: "abort", bytes: prefix, delivery: { ending } };
    }
    case 3: {
      const requests = [request, ...random.list(6, () => validRequest(random))];
      return {
        kind: "pipeline",
        bytes: Buffer.from(requests.map(({ head, body }) => head + body).join(""), "latin1"),
        delivery: { ending: "wait", answers: requests.length },
        expected: requests.map(({ status }) => status),
        bodies: requests.map(({ answer }) => answer),
      };
    }
    case 4: {
      const length = random.pick([
        "0",
        "1",
        "+5",
        "-1",
        "5, 5",
        "1e3",
        "0x5",
        "99999999999999999999",
        "",
      ]);
      const lied = text.replace(/Content-Length: \d+/, `Content-Length: ${length}`);
      return {
        kind: "length",
        bytes: Buffer.from(lied, "latin1"),
        delivery: { ending: "half-close" },
      };
    }
    case 5: {
      const body = mutateBytes(random, Buffer.from(request.body, "latin1"), chunkPieces);
      const head = request.head.replace(/Content-Length: \d+/, "Transfer-Encoding: chunked");
      const all = Buffer.concat([Buffer.from(head, "latin1"), body]);
      return {
        kind: "chunks",
        bytes: all,
        delivery: { ending: random.pick(["wait", "half-close"]) },
      };
    }
    case 6: {
      const body = mutateBytes(random, Buffer.from(request.body, "latin1"));
      const head = request.head.replace(/Content-Length: \d+/, `Content-Length: ${body.length}`);
      const all = Buffer.concat([Buffer.from(head, "latin1"), body]);
      return { kind: "body", bytes: all, delivery: { ending: "wait" } };
    }
    default: {
      const head = mutateBytes(random, Buffer.from(request.head, "latin1"), headPieces);
      const all = Buffer.concat([head, Buffer.from(request.body, "latin1")]);
      return {
        kind: "head",
        bytes: all,
        delivery: { ending: random.pick(["wait", "half-close"]) },
      };
    }
  }
}

/** `patience`: how many times as long as usual an answer may take. */
export function edgeTarget(open: () => Promise<EdgeServices>, patience = 1): Target {
  let services: EdgeServices;
  const samples: Readonly<Record<string, number>>[] = [];
  let batches = 0;
  const counts: Record<string, number> = {};
  const statuses: Record<number, number> = {};

  const tryOne = async (service: string, attempt: Attempt): Promise<void> => {
    const { kind, bytes, delivery, expected, bodies } = attempt;
    counts[kind] = (counts[kind] ?? 0) + 1;
    const input = `${service}, ${kind}: ${bytes.toString("latin1")}`;
    const { text, isLate } = await deliver(
      services.ports[service] ?? 0,
      bytes,
      delivery,
      longestMs * patience,
    );
    const answers = answersIn(text);
    for (const { status, head, body } of answers) {
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === 500 || status === 502 || status === 504)
        throw new Finding(`answers ${status}: ${body.slice(0, 300)}`, input);
      const found = status >= 400 ? leak.exec(head + body) : null;
      if (found !== null) throw new Finding(`the answer holds ${found[0].trim()}: ${body}`, input);
    }
    if (isLate) throw new Finding(`doesn't answer in time: ${text.slice(0, 300)}`, input);
    // A repository has no procedures.
    if (expected === undefined || service === "repository") return;
    expected.forEach((status, index) => {
      const answer = answers[index];
      const body = bodies?.[index];
      if (answer === undefined || (status !== 0 && answer.status !== status))
        throw new Finding(`answer ${index + 1} is ${answer?.status} instead of ${status}`, input);
      if (body !== undefined && answer.body !== body)
        throw new Finding(`answer ${index + 1} is ${answer.body}`, input);
    });
  };

  const checkAlive = async (): Promise<void> => {
    services.check?.();
    await Promise.all(
      Object.entries(services.ports).map(async ([service, port]) => {
        const path = service === "repository" ? "/health/live" : "/rpc/a/canary";
        const bytes = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
        const begun = performance.now();
        const { text } = await deliver(
          port,
          bytes,
          { ending: "wait", answers: 1 },
          longestMs * patience,
        );
        const [answer] = answersIn(text);
        const took = Math.round(performance.now() - begun);
        if (answer?.status !== 200 || !/^(?:alive|true)$/.test(answer.body))
          throw new Finding(`afterwards the ${service} answers ${text}`, "");
        if (took > aliveMs * patience)
          throw new Finding(`afterwards the ${service} takes ${took} ms`, "");
      }),
    );
  };

  return {
    name: "edge",
    slowMs: 15_000 * patience,
    async open() {
      services = await open();
    },
    async attempt(random) {
      const attempts = Array.from({ length: batch }, () => {
        const service = random.pick(Object.keys(services.ports));
        return [service, attemptOf(random)] as const;
      });
      await Promise.all(attempts.map(async ([service, attempt]) => await tryOne(service, attempt)));
      await checkAlive();
      if (++batches % sampleBatches === 0 && services.heap) samples.push(await services.heap());
    },
    figures() {
      const inMegabytes = (bytes = 0): string => (bytes / 1e6).toFixed(1);
      const growth = Object.keys(services.ports).map((service) => {
        const bytes = samples.map((sample) => sample[service] ?? 0);
        const first = bytes[Math.floor(bytes.length / 3)] ?? 0;
        const last = bytes.at(-1) ?? 0;
        if (last > first * growthShare && last > first + growthBytes)
          throw new Finding(`the ${service} grows: ${bytes.map(inMegabytes).join(", ")} MB`, "");
        return `${service} ${inMegabytes(first)} → ${inMegabytes(last)} MB`;
      });
      return `${JSON.stringify(counts)}; answers ${JSON.stringify(statuses)}; ${growth.join(", ")}`;
    },
    close: async () => await services.close(),
  };
}
