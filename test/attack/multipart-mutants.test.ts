// Random changes to multipart bodies, through parser, decoder and procedure: the answer is never a
// fault of ours, and none takes long. `MUTANTS=100000` tries more than the seeded few.

import { expect, it } from "vitest";

import { ask, deployUploads, encodedForm, marked, multipart } from "../spec/_uploads.ts";
import { processorMs } from "../_processor-time.ts";

function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 4_294_967_296) * below);
  };
}

const file = (part: string): object => marked("File", { part, fileName: "a", mediaType: "t/x" });
const entries = [
  ["a", "1"],
  ["b", file("f1")],
];
const bodies: readonly (readonly [path: string, headers: object, body: string])[] = [
  [
    "/rpc/u/show",
    encodedForm,
    multipart(
      ["args", { first: [file("f0")], second: marked("FormData", { entries }) }],
      ["f0", "two\r\n", "f0"],
      ["f1", "", 'q"'],
    ),
  ],
  [
    "/rpc/u/show",
    encodedForm,
    multipart(
      [
        "args",
        { first: marked("Map", { entries: { keys: [1], values: [file("f")] } }), second: 1 },
      ],
      ["f", "x", "f"],
    ),
  ],
  [
    "/rpc/u/form",
    { "content-type": encodedForm["content-type"] },
    multipart(["count", "3"], ["born", "2020-01-01"], ["tags", "a"], ["file", "x", "\\a.txt"]),
  ],
];

const dictionary = [
  "\r\n",
  "\r",
  "\n",
  "--",
  "--b",
  "--b--",
  "\r\n--b\r\n",
  "\r\n\r\n",
  '"',
  "\\",
  ";",
  "=",
  ":",

  "\0",
  "\xff",
  "__proto__",
  "constructor",
  "args",
  "f0",
  "f1",
  "name=",
  "filename=",
  "filename*=",

  "UTF-8''%FF",
  "%22",
  "%0D%0A",
  "Content-Type: ",
  "Content-Disposition: form-data; ",
  " ",
  "\t",

  '{"serialized":true,"name":"File","part":"f0"}',
  '"part":"f1"',
  "[",
  "]",
  "{",
  "}",
  ",",
  "null",
  '"serialized"',
  '"FormData"',
  '"entries"',
  '"Blob"',
  "1e999",
  "-0",
  "\\u0000",
  "Undefined",
];

it("a changed multipart body answers 200, 400, 413 or 415, and each at once", async () => {
  const { standalone, proxy } = await deployUploads();
  const next = random(7);
  const rounds = Number(process.env["MUTANTS"] ?? 1_000);
  const counts: Record<number, number> = {};
  for (let round = 0; round < rounds; round++) {
    const [path, headers, original] = bodies[next(bodies.length)]!;
    let body = original;
    for (let count = 1 + next(next(4) + 1); count > 0; count--) {
      const at = next(body.length + 1);
      const piece = dictionary[next(dictionary.length)]!;
      const from = next(original.length);
      switch (next(6)) {
        case 0:
          body = body.slice(0, at) + piece + body.slice(at);
          break;
        case 1:
          body = body.slice(0, at) + piece + body.slice(at + piece.length);
          break;
        case 2:
          body = body.slice(0, at) + body.slice(at + next(30));
          break;
        case 3:
          body = body.slice(0, at) + original.slice(from, from + next(120)) + body.slice(at);
          break;
        case 4:
          body = body.slice(0, at) + piece.repeat(next(200)) + body.slice(at);
          break;
        default:
          body = next(8) === 0 ? body.slice(0, at) : body;
      }
    }
    const started = processorMs();
    const service = next(4) === 0 ? proxy : standalone;
    const bytes = Buffer.from(body, "latin1");
    const answer = await ask(service, "POST", path, headers as Record<string, string>, bytes);
    const what = `round ${round}: ${answer.status} ${answer.text} for ${JSON.stringify(body)}`;
    expect([200, 400, 413, 415], what).toContain(answer.status);
    expect(processorMs() - started, what).toBeLessThan(1_000);
    counts[answer.status] = (counts[answer.status] ?? 0) + 1;
  }
  expect(counts[200]).toBeGreaterThan(rounds / 30);
  expect(counts[400]).toBeGreaterThan(rounds / 4);
});
