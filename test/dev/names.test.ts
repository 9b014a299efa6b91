// Names that a caller or a segment file has almost right, and what development answers.

import { expect, it } from "vitest";

import { develop } from "./_session.ts";

const say = "export async function say(text: string): Promise<string> {\n  return text;\n}\n";
const entry = { say: { access: "public" }, hidden: { access: "private" } };
const files = {
  "index.html": "<!doctype html><title>Chat</title>\n",
  "segments/api.segment.json": `${JSON.stringify({ "./api/chat": entry })}\n`,
  "src/api/chat.ts": `${say}export async function hidden(): Promise<void> {}\n`,
};

it.each([
  [
    "api/chat/say",
    "Procedure 'api/chat/say' v0.0.0 not found; did you mean 'api/say'? The file's name isn't part of it",
  ],
  ["api/sya", "Procedure 'api/sya' v0.0.0 not found; did you mean 'api/say'?"],
  ["api/hiden", "Procedure 'api/hiden' v0.0.0 not found"],
  ["orders/all", "Procedure 'orders/all' v0.0.0 not found"],
])("a call of '%s' is answered with what the caller may have meant", async (name, message) => {
  const { get } = await develop(files);
  expect(await get(`/rpc/${name}`)).toEqual({ status: 404, value: message });
});
