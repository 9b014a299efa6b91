// Members that join a gateway, and the lists that they send, with every part changed.

import { digest as sha256 } from "../../../server/http/host.ts";
import {
  dialAsMember,
  type FakeMember,
  type GatewayAnswer,
  memoryDial,
} from "../../../test/_fake-member.ts";
import { mutateBytes, mutateText, mutateTree, oddTexts } from "../mutate.ts";
import { checkAnswer, Finding, type Target } from "../target.ts";
import { randomTree } from "../values.ts";
import {
  asTarget,
  checkAlive,
  close,
  type Fields,
  open,
  randomFields,
  services,
} from "./services.ts";

const joining = {
  url: "http://other:1",
  procedures: ["b/c", "a/add"],
  idempotent: ["b/c"],
  routes: [{ name: "h/k", method: "POST", path: "/hooks/:id" }],
  node: {
    name: "n",
    segments: ["s"],
    procedures: [
      {
        fqn: "b/c",
        version: "1.0.0",
        access: "public",
        segments: ["s"],
        parameters: [
          { kind: "plain", name: "a", type: "number", optional: true },
          { kind: "object", names: [{ name: "b" }] },
          { kind: "array", names: [null, { name: "c" }] },
          { kind: "rest", name: "d" },
        ],
        route: "GET /a",
      },
    ],
  },
};

/** Dials the gateway, again if it has to. */
let member: FakeMember;

const openLinked = async (): Promise<void> => {
  await open();
  const { url } = joining;
  member = await dialAsMember({ dial: memoryDial(services.local.network), url, instance: "abc-1" });
};

/** Sends what the gateway has to answer, whatever it is. */
async function asked(
  input: unknown,
  method: string,
  path: string,
  body: Uint8Array = new Uint8Array(),
  fields: Fields = {},
): Promise<GatewayAnswer> {
  const answer = await member
    .request(method, path, body, { "content-type": "application/json", ...fields })
    .catch((error: unknown) => {
      throw new Finding(`no answer: ${String(error)}`, input);
    });
  checkAnswer(answer.status, answer.text, input);
  return answer;
}

/** The member has joined, and leaves. */
async function leave(input: unknown): Promise<void> {
  const { status } = await asked(input, "DELETE", "/nodes");
  if (status !== 204) throw new Finding(`leaving answers ${status}`, input);
}

/** `POST /nodes`, as a request of the service itself most often. What joins leaves again. */
const joins: Target = {
  name: "joins",
  open: openLinked,
  close,
  async attempt(random) {
    const tree = mutateTree(random, joining, (leaf) => randomTree(leaf, 2));
    const text = Buffer.from(JSON.stringify(tree));
    const body = random.once(3) ? Buffer.from(mutateBytes(random, text, oddTexts)) : text;
    const fields = randomFields(random);
    const input = { fields, body: body.toString("latin1") };
    if (member.isClosed) await member.dial();
    if (random.once(5)) {
      const from = random.pick(["service", "outside"] as const);
      // The link may end for it.
      const answer = await member
        .request("POST", "/nodes", body, fields, from)
        .catch(() => undefined);
      if (answer !== undefined && answer.status < 400)
        throw new Finding(`a call that is passed on joins: ${answer.status}`, input);
      return;
    }
    const { status } = await asked(input, "POST", "/nodes", body, fields);
    if (status === 201) await leave(input);
    if (status === 201 || random.once(20)) await checkAlive("gateway", input);
  },
};

/** Lists, and joins by their digests. */
const lists: Target = {
  name: "lists",
  open: openLinked,
  close,
  async attempt(random) {
    // Keys that aren't a list's are ignored.
    const text = Buffer.from(
      JSON.stringify(mutateTree(random, joining, (leaf) => randomTree(leaf, 2))),
    );
    const bytes = random.once(3) ? Buffer.from(mutateBytes(random, text, oddTexts)) : text;
    const digest = sha256(random.once(4) ? text : bytes);
    const path = `/nodes/lists/${random.once(20) ? mutateText(random, digest, ["/", ".", "%"]) : digest}`;
    const input = { text: bytes.toString("latin1"), path };
    await asked(input, "PUT", asTarget(path), bytes);
    const join = Buffer.from(JSON.stringify({ url: joining.url, digest }));
    const { status } = await asked(input, "POST", "/nodes", join);
    if (status === 201) {
      if (digest !== sha256(bytes)) throw new Finding("a list that isn't its digest's", input);
      await leave(input);
    }
    // Lists without a join make room for others.
    await services.local.clock.pass(10_000);
    if (random.once(20)) await checkAlive("gateway", input);
  },
};

export const joinTargets: readonly Target[] = [joins, lists];
