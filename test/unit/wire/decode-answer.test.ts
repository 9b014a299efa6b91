import { describe, expect, it } from "vitest";

import {
  BadGateway,
  Forbidden,
  InvalidSerializedValue,
  NodeNotAvailable,
  NotFound,
} from "../../../src/base/errors.ts";
import type { IncomingResponse } from "../../../src/base/ports.ts";
import { Classes } from "../../../src/codec/classes.ts";
import { ranOn, setTrace, traceOf } from "../../../src/base/trace.ts";
import { encodeError } from "../../../src/wire/encode-error.ts";
import { errorOfText } from "../../../src/wire/plain-error.ts";
import { decodeAnswer } from "../../../src/wire/decode-answer.ts";
import { incoming } from "../../_endpoint.ts";
import { expectSame } from "../../_same.ts";
import { wireCases } from "../../_wire-cases.ts";
import { OutOfStock, Person, wireClasses } from "../../_wire-classes.ts";
import { classes, failing, fake, remote, returning, text } from "./_remote.ts";

describe("a remote call comes back", () => {
  it.each(
    wireCases.map(
      ({ name, value, ...one }) => [name, value, "decoded" in one ? one.decoded : value] as const,
    ),
  )("%s", async (_, value, decoded) => {
    await expectSame((await remote(fake(() => returning(value)))()).value, decoded);
  });
  it.each([
    0,
    -0,
    Number.NaN,
    Infinity,
    -Infinity,
    1e300,
    5n,
    -(2n ** 80n),
    true,
    false,
    "",
    "null",
    "\ufeffa\r\nä",
    null,
    undefined,
  ])("%s", async (value) => {
    expect((await remote(fake(() => returning(value)))()).value).toBe(value);
  });
  it("an answer has the name of the node that ran the call", async () => {
    const named = async (answer: Promise<IncomingResponse>): Promise<IncomingResponse> => {
      const response = await answer;
      return { ...response, headers: { ...response.headers, "x-svc-node": "node a" } };
    };
    expect(await remote(fake(() => named(returning(1))))()).toEqual({ value: 1, node: "node a" });
    expect(await remote(fake(() => returning(1)))()).toEqual({ value: 1 });
    const error: unknown = await remote(fake(() => named(failing(new Forbidden()))))().catch(
      (thrown: unknown) => thrown,
    );
    expect(ranOn(error)).toBe("node a");
  });
  it("an answer may have more values than a stranger may send", async () => {
    const people = Array.from({ length: 12_000 }, () => new Date(0));
    expect((await remote(fake(() => returning(people)))()).value).toHaveLength(12_000);
  });
  it("an answer with raw bytes is decoded to bytes", async () => {
    const answer = await decodeAnswer(text("ab", { headers: { "x-svc-data-type": "binary" } }), {
      classes,
    });
    expect(answer.value).toEqual(new Uint8Array([97, 98]));
  });
  it("classes are fetched when an answer first needs one", async () => {
    const lazy = new Classes();
    let loads = 0;
    lazy.load = async () => {
      loads++;
      for (const [record, constructor] of wireClasses) lazy.register(record, constructor);
      lazy.load = undefined;
    };
    const answers: unknown[] = [1, { a: 1 }, new Person("Ada")];
    const call = remote(
      fake(() => returning(answers.shift())),
      { classes: lazy },
    );
    await call();
    await call();
    expect(loads).toBe(0);
    expect((await call()).value).toBeInstanceOf(Person);
    expect(loads).toBe(1);
  });
  it("classes are fetched when an argument is an instance of one", async () => {
    const lazy = new Classes();
    lazy.load = async () => {
      for (const [record, constructor] of wireClasses) lazy.register(record, constructor);
    };
    const transport = fake(() => text("ok"));
    await remote(transport, { classes: lazy })({ who: new Person("Ada") });
    expect(transport.sent[0]?.body).toContain('"key":"people/Person"');
  });
});

describe("an error comes back as what it was", () => {
  const thrownBy = async (
    answer: () => IncomingResponse | Promise<IncomingResponse>,
  ): Promise<Error> => (await remote(fake(answer))().catch((thrown: unknown) => thrown)) as Error;
  it("an error comes back as an instance of its own class, with only its trace lines", async () => {
    const error = new OutOfStock("tea");
    setTrace(error, ["[shop/stock | v1.0.0]"]);
    const back = await thrownBy(() => failing(error));
    expect(back).toBeInstanceOf(OutOfStock);
    expect(back).toMatchObject({ sku: "tea", message: "Nothing left of tea" });
    expect(traceOf(back)).toEqual(["[shop/stock | v1.0.0]"]);
  });
  it("an error whose class isn't here comes back as the nearest by its status, under its own name", async () => {
    const answer = await failing(new OutOfStock("tea"));
    const back: unknown = await remote(
      fake(() => answer),
      { classes: new Classes() },
    )().catch((thrown: unknown) => thrown);
    expect(back).toBeInstanceOf(NotFound);
    expect(back).toMatchObject({ name: "OutOfStock", message: "Nothing left of tea" });
  });
  it("an error of a service in between is recognised by its header", async () => {
    const back = await thrownBy(() =>
      text("none left", { status: 503, headers: { "x-svc-error": "NodeNotAvailable" } }),
    );
    expect(back).toBeInstanceOf(NodeNotAvailable);
    expect(back.message).toBe("none left");
  });
  it("an error of a plain answer has its class by status, and message and trace lines from the text", async () => {
    const answer = incoming(
      await encodeError(
        Object.assign(new Forbidden("not\nyou"), { trace: ["[a/b | v1.0.0]", "[c | v0.0.0]"] }),
        "plain",
        {
          classes,
          stacks: false,
        },
      ),
    );
    const back: unknown = await decodeAnswer(answer, { classes, errorOfText }).catch(
      (thrown: unknown) => thrown,
    );
    expect(back).toBeInstanceOf(Forbidden);
    expect((back as Error).message).toBe("not\nyou");
    expect(traceOf(back)).toEqual(["[a/b | v1.0.0]", "[c | v0.0.0]"]);
  });
});

describe("a response that isn't an answer to a call", () => {
  const html = { "content-type": "text/html" };
  it.each<[string, IncomingResponse]>([
    ["a page", text("<!doctype html>", { headers: html })],
    ["an unknown data type", text("x", { headers: { "x-svc-data-type": "object2" } })],
    ["a number that is none", text("", { headers: { "x-svc-data-type": "number" } })],
    ["a boolean that is none", text("yes", { headers: { "x-svc-data-type": "boolean" } })],
    ["a bigint that is none", text("1.5", { headers: { "x-svc-data-type": "bigint" } })],
    ["half a JSON text", text('{"a":', { headers: { "x-svc-data-type": "object" } })],
    [
      "a class that isn't known",
      text('{"serialized":true,"name":"class","key":"x"}', {
        headers: { "x-svc-data-type": "object" },
      }),
    ],
    [
      "more levels than a stack holds",
      text(
        `{"serialized":true,"name":"Set","values":${"[".repeat(200_000)}${"]".repeat(200_000)}}`,
        {
          headers: { "x-svc-data-type": "object" },
        },
      ),
    ],
    ["a redirect", text("", { status: 302, headers: { location: "http://elsewhere" } })],
    ["somebody else's 404", text("Not Found", { status: 404, headers: html })],
    [
      "an error that is none",
      text('{"error":"x"}', { status: 500, headers: { "content-type": "application/json" } }),
    ],
    [
      "an error of a foreign name",
      text("x", { status: 500, headers: { "x-svc-error": "constructor" } }),
    ],
  ])("%s: BadGateway", async (_, answer) => {
    await expect(remote(fake(() => answer))()).rejects.toThrow(BadGateway);
  });
  it("a fault of an answer isn't reported as one of the request", async () => {
    const back: unknown = await remote(
      fake(() =>
        text('{"serialized":true,"name":"x"}', { headers: { "x-svc-data-type": "object" } }),
      ),
    )().catch((thrown: unknown) => thrown);
    expect(back).not.toBeInstanceOf(InvalidSerializedValue);
    expect((back as Error).cause).toBeInstanceOf(InvalidSerializedValue);
  });
});

describe("an answer that holds an instance of a class that isn't here", () => {
  it("an answer with an unknown class is an error that names the class and how to load it", async () => {
    const body = '[{"serialized":true,"key":"shop/Cloth","name":"class","args":{},"fields":{}}]';
    const response = {
      status: 200,
      headers: { "content-type": "application/json", "x-svc-data-type": "object" },
      body: new TextEncoder().encode(body),
    };
    await expect(decodeAnswer(response, { classes })).rejects.toMatchObject({
      name: "BadGateway",
      message: expect.stringMatching(
        /^The answer can't be read: result\[0\]: there is no class 'shop\/Cloth' here\. Import it by value .*browserModules/,
      ),
    });
  });
});
