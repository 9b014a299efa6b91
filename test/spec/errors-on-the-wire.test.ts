import { describe, expect, it } from "vitest";

import * as errors from "../../src/base/errors.ts";
import { TransportError } from "../../src/base/ports.ts";
import { Classes } from "../../src/codec/classes.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { decodeSerialized } from "../../src/codec/serialized.ts";
import { setTrace, traced } from "../../src/base/trace.ts";
import { type Endpoint, callEndpoint } from "../_endpoint.ts";
import { OutOfStock, Refused } from "../_wire-classes.ts";

const throwing = (thrown: unknown, more: Partial<Endpoint> = {}): Endpoint => ({
  parameters: [],
  run: () => {
    throw thrown;
  },
  ...more,
});
const serialized = { "x-svc-data-encoding": "serialized" };

describe("errors that a procedure throws", () => {
  it.each([...errors.frameworkErrors])(
    "a thrown %s keeps status and message",
    async (name, Class) => {
      const error = name === "Teapot" ? new Class() : new Class("a message");
      const status = (Class as unknown as typeof errors.ServiceError).status;
      expect(await callEndpoint(throwing(error), {})).toMatchObject({
        status,
        text: error.message,
        headers: {
          "content-type": "text/plain; charset=utf-8",
          "x-content-type-options": "nosniff",
          "cache-control": "no-store",
        },
      });
      const answer = await callEndpoint(throwing(error), { headers: serialized });
      expect(answer).toMatchObject({ status, headers: { "content-type": "application/json" } });
      expect(JSON.parse(answer.text)).toEqual({
        serialized: true,
        name: "Error",
        type: name,
        message: error.message,
        trace: [],
        fields: {},
      });
    },
  );
  it("an application's error has the status of the class it extends, 500 if that is Error", async () => {
    expect(await callEndpoint(throwing(new OutOfStock("tea")), {})).toMatchObject({
      status: 404,
      text: "Nothing left of tea",
    });
    expect(await callEndpoint(throwing(new Refused("no", 1)), {})).toMatchObject({
      status: 500,
      text: "no",
    });
  });
  it("the text of an error is its message, then the trace lines, each on its own line", async () => {
    const error = traced(
      traced(new errors.Forbidden("not you"), "[shop/stock | v1.0.0]"),
      "[shop/quote | v0.0.0]",
    );
    expect((await callEndpoint(throwing(error), {})).text).toBe(
      "not you\n[shop/stock | v1.0.0]\n[shop/quote | v0.0.0]",
    );
    expect(error.message).toBe("not you");
  });
  it.each<[string, unknown, string]>([
    ["text", "text", "text"],
    ["number", 5, "5"],
    ["nothing", undefined, "undefined"],
    ["an object without text", Object.create(null), "A value without text"],
  ])("a thrown non-error is a 500 with its text: %s", async (_, thrown, text) => {
    expect(await callEndpoint(throwing(thrown), {})).toMatchObject({ status: 500, text });
    expect(
      JSON.parse((await callEndpoint(throwing(thrown), { headers: serialized })).text),
    ).toMatchObject({ type: "Error", message: text });
  });
  it("the answer of an error contains no stack and no path", async () => {
    const error = new Error("outer", {
      cause: Object.assign(new Error("open '/etc/x'"), {
        syscall: "open",
        path: "/etc/x",
        errno: -2,
      }),
    });
    for (const headers of [{}, serialized])
      expect((await callEndpoint(throwing(error), { headers })).text).not.toMatch(
        /\bat |\/etc|errno|stack|\.ts/,
      );
    expect((await callEndpoint(throwing(error.cause), {})).text).toBe("Internal error");
    // As node:child_process makes them: of exec, and of execSync.
    for (const more of [{ cmd: "psql -p secret" }, { stderr: "", stdout: "", status: 1 }]) {
      const command = Object.assign(new Error("Command failed: psql -p secret"), more);
      expect((await callEndpoint(throwing(command), {})).text).toBe("Internal error");
      expect((await callEndpoint(throwing(command), { headers: serialized })).text).not.toContain(
        "psql",
      );
    }
    const missing = Object.assign(new Error("Cannot find module '/srv/x.js'"), {
      code: "ERR_MODULE_NOT_FOUND",
    });
    expect((await callEndpoint(throwing(missing), {})).text).toBe("Internal error");
  });
  it("the answer of an error contains no address of another service", async () => {
    const cause = new TransportError("http://10.0.0.7:7401 refused the connection", false);
    const error = new errors.NodeNotAvailable("'shop/stock' could not be sent", { cause });
    for (const headers of [{}, serialized])
      expect((await callEndpoint(throwing(error), { headers })).text).not.toContain("10.0.0.7");
    const between = (
      await callEndpoint(throwing(error, { trusted: true }), { headers: serialized })
    ).text;
    expect(between).toContain("10.0.0.7");
    // A node passes an error of another node on to the outside.
    const decoded = decodeSerialized(between, {
      classes: new Classes(),
      limits: defaultLimits,
      trusted: true,
    });
    expect((await callEndpoint(throwing(decoded), { headers: serialized })).text).not.toContain(
      "10.0.0.7",
    );
  });
  it("services get the stack of an error", async () => {
    const error = new Error("x");
    expect(
      JSON.parse(
        (await callEndpoint(throwing(error, { trusted: true }), { headers: serialized })).text,
      ),
    ).toMatchObject({
      stack: error.stack,
    });
  });
  it("an error is sent even if what it carries can't be", async () => {
    const error = new errors.NotFound("gone");
    Object.assign(error, { self: error, act: () => 1 });
    setTrace(error, ["[a | v1.0.0]"]);
    const answer = await callEndpoint(throwing(error), { headers: serialized });
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.text)).toEqual({
      serialized: true,
      name: "Error",
      type: "NotFound",
      message: "gone",
      trace: ["[a | v1.0.0]"],
      fields: {},
    });
  });
  it("an error is sent even if nothing of it is readable", async () => {
    const hostile = Object.defineProperty(new errors.Forbidden(), "message", {
      get() {
        throw new Error("no");
      },
    });
    for (const headers of [{}, serialized]) {
      const answer = await callEndpoint(throwing(hostile), { headers });
      expect(answer.status).toBe(403);
      expect(answer.text).toContain("Internal error");
    }
    const odd = Object.assign(new Error("x"), {
      message: Object.create(null) as string,
      name: Symbol("odd") as never,
    });
    expect(await callEndpoint(throwing(odd), {})).toMatchObject({
      status: 500,
      text: "A value without text",
    });
  });
  it("NodeNotAvailable has retry-after, and MethodNotAllowed has allow", async () => {
    expect((await callEndpoint(throwing(new errors.NodeNotAvailable()), {})).headers).toMatchObject(
      {
        "retry-after": "1",
      },
    );
    expect((await callEndpoint(throwing(new errors.MethodNotAllowed()), {})).headers).toMatchObject(
      {
        allow: "GET, POST",
      },
    );
  });
});
