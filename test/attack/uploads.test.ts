import { describe, it } from "vitest";
import { attack, callServices, socketsForAll } from "./_attack.ts";
import { bytesOf } from "./_sockets.ts";

// Bad multipart bodies through real sockets. After each one, the next valid request works.

const sockets = await socketsForAll();

const serialized = "x-svc-data-encoding: serialized";
const multipart = "Content-Type: multipart/form-data; boundary=b";
const call = (body: string, fields: readonly string[] = [multipart]): Buffer =>
  bytesOf({ target: "/rpc/a/echo", method: "POST", body, fields });
const part = (name: string, content = "x", more = ""): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${content}\r\n`;
const file = (more: object = {}): string =>
  JSON.stringify({
    value: { serialized: true, name: "File", part: "f0", fileName: "a", ...more },
  });

describe("a multipart call", () => {
  it.each<[string, string, (string | undefined)?]>([
    ["no boundary", part("value"), "Content-Type: multipart/form-data"],
    [
      "a boundary of 8,000 bytes",
      "x",
      `Content-Type: multipart/form-data; boundary="${"b".repeat(8_000)}"`,
    ],
    ["no end", part("value")],
    ["nothing but dashes", "-".repeat(500_000)],
    ["1,001 parts", `${part("value").repeat(1_001)}--b--`],
    ["100,000 empty parts", "--b\r\n\r\n\r\n".repeat(100_000)],
    ["headers of a megabyte", `--b\r\nx: ${"x".repeat(1_000_000)}\r\n\r\n--b--`],
    ["a name for the prototype", `${part("__proto__")}--b--`],
    ["a name of 5,000 bytes", `${part("n".repeat(5_000))}--b--`],
    ["a name with line breaks", `${part("a\r\nb")}--b--`],
    ["a name of quotes", `${part('\\"'.repeat(2_000))}--b--`],
  ])("with %s answers 400", async (_, body, type = multipart) => {
    await attack(sockets, callServices, call(body, [type]), 400);
  });

  it.each<[string, string]>([
    ["a part in no form", `${part("args", '{"value":1}')}${part("f0")}--b--`],
    ["a form without its part", `${part("args", file())}--b--`],
    ["a part that comes before args", `${part("f0")}${part("args", file())}--b--`],
    ["a part named twice", `${part("args", file())}${part("f0").repeat(2)}--b--`],
    ["a part for the prototype", `${part("args", file({ part: "__proto__" }))}--b--`],
    ["a key for the prototype", `${part("args", '{"value":{"__proto__":1}}')}--b--`],
    ["5,000 levels", `${part("args", `{"value":${"[".repeat(5_000)}${"]".repeat(5_000)}}`)}--b--`],
    ["a member more", `${part("args", file({ constructor: 1 }))}${part("f0")}--b--`],
  ])("in the serialized encoding with %s answers 400", async (_, body) => {
    await attack(sockets, callServices, call(body, [multipart, serialized]), 400);
  });

  it("over uploadBytes answers 413, by its length alone, as do arguments over bodyBytes", async () => {
    const length = [multipart, "Content-Length: 33554433"];
    const head = bytesOf({ target: "/rpc/a/echo", method: "POST", fields: length });
    await attack(sockets, callServices, head, 413);
    const args = part("args", `{"value":"${"x".repeat(1_100_000)}"}`);
    await attack(sockets, callServices, call(`${args}--b--`, [multipart, serialized]), 413);
  });
});
