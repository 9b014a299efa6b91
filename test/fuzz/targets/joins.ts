// Members that join a gateway, and the lists that they send, with every part changed.

import { digest as sha256 } from "../../../server/http/host.ts";
import { ask, key } from "../../_cluster.ts";
import { mutateBytes, mutateText, mutateTree, oddTexts } from "../mutate.ts";
import { checkAnswer, Finding, type Target } from "../target.ts";
import { randomTree } from "../values.ts";
import {
  asField,
  asTarget,
  checkAlive,
  close,
  credentials,
  type Fields,
  open,
  randomFields,
  services,
} from "./services.ts";

const joining = {
  url: "http://other:1",
  procedures: ["b/c", "a/add"],
  idempotent: ["b/c"],
  instance: "abc-1",
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

const trusted = { host: "localhost", "x-svc-trust-key": key };

/** Removes the member that has got this answer to its join. */
async function leave(joined: string, input: unknown): Promise<void> {
  const { id } = JSON.parse(joined) as { id: string };
  const { status } = await ask(services.roles.gateway, "DELETE", `/nodes/${id}`, trusted);
  if (status !== 204) throw new Finding(`leaving answers ${status}`, input);
}

/** `POST /nodes`, with the key most often. What joins leaves again. */
const joins: Target = {
  name: "joins",
  open,
  close,
  async attempt(random) {
    const tree = mutateTree(random, joining, (leaf) => randomTree(leaf, 2));
    const text = JSON.stringify(tree);
    const body = random.once(3)
      ? Buffer.from(mutateBytes(random, Buffer.from(text), oddTexts)).toString("latin1")
      : text;
    const fields: Fields = {
      host: "localhost",
      ...randomFields(random),
      ...(random.once(5) ? credentials.fields("service") : { "x-svc-trust-key": key }),
    };
    const { gateway } = services.roles;
    const input = { fields, body };
    const { status, text: answer } = await ask(gateway, "POST", "/nodes", fields, body);
    checkAnswer(status, answer, input);
    if (status !== 201) {
      if (random.once(20)) await checkAlive("gateway", input);
      return;
    }
    await leave(answer, input);
    // A member may have taken the real one's address: then calls would go nowhere.
    if (!/http:\/\/node\b/.test(body)) await checkAlive("gateway", input);
  },
};

/** Lists in parts, with parts that lie, overlap and are missing, and joins by their digests. */
const lists: Target = {
  name: "lists",
  open,
  close,
  async attempt(random) {
    const { gateway } = services.roles;
    // Keys that aren't a list's are ignored.
    const text = Buffer.from(
      JSON.stringify(mutateTree(random, joining, (leaf) => randomTree(leaf, 2))),
    );
    const bytes = random.once(3) ? Buffer.from(mutateBytes(random, text, oddTexts)) : text;
    const digest = sha256(random.once(4) ? text : bytes);
    const path = `/nodes/lists/${random.once(20) ? mutateText(random, digest, ["/", ".", "%"]) : digest}`;
    const input = { text: bytes.toString("latin1"), path };
    let received = 0;
    for (let tries = 0; tries < 8 && received < bytes.length; tries++) {
      const start = random.once(5) ? random.below(bytes.length) : received;
      const end = random.once(2) ? bytes.length : start + 1 + random.below(bytes.length - start);
      const right = `bytes ${start}-${end - 1}/${bytes.length}`;
      const range = random.once(8) ? asField(mutateText(random, right, ["-", "/", "9"])) : right;
      const part = bytes.subarray(start, end);
      const fields = { ...trusted, "content-range": range };
      const { status, text: answer } = await ask(gateway, "PUT", asTarget(path), fields, part);
      checkAnswer(status, answer, input);
      if (status === 202) ({ received } = JSON.parse(answer) as { received: number });
      else if (status === 201) received = bytes.length;
    }
    const join = JSON.stringify({ url: joining.url, digest });
    const { status, text: answer } = await ask(gateway, "POST", "/nodes", trusted, join);
    checkAnswer(status, answer, input);
    if (status === 201) {
      if (digest !== sha256(bytes)) throw new Finding("a list that isn't its digest's", input);
      await leave(answer, input);
    }
    // Uploads that nobody goes on with make room for others.
    await services.local.clock.pass(10_000);
    if (random.once(20)) await checkAlive("gateway", input);
  },
};

export const joinTargets: readonly Target[] = [joins, lists];
