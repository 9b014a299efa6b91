import { describe, expect, it } from "vitest";

import { CorsMiddleware } from "../../src/http/cors.ts";
import { Unauthorized } from "../../src/base/errors.ts";
import { type Middleware, nameMiddleware } from "../../src/http/middleware.ts";
import { ask, settle } from "../_cluster.ts";
import { kinds, layer, layered, services } from "./_services.ts";

/** Records when it is entered and left. */
function noting(name: string, notes: string[]): Middleware {
  return layer(async (fqn, _version, _args, _headers, next) => {
    notes.push(`${name} before ${fqn}`);
    const result = await next();
    notes.push(`${name} after`);
    return result;
  });
}

async function later(next: () => Promise<unknown>): Promise<unknown> {
  await settle();
  return await next();
}

describe.each(kinds)("middleware on a %s", (kind) => {
  it("middleware-15: middleware can be added to node, gateway, proxy and standalone, before and after its start", async () => {
    const all = await services({ started: false });
    const notes: string[] = [];
    all[kind].addMiddleware(noting("early", notes));
    await all.start();
    const call = () => ask(all[kind], "GET", "/rpc/app/echo?value=a");
    expect((await call()).text).toBe("a");
    all[kind].addMiddleware(noting("late", notes));
    expect((await call()).text).toBe("a");
    expect(notes).toEqual([
      "early before app/echo",
      "early after",
      "late before app/echo",
      "early before app/echo",
      "early after",
      "late after",
    ]);
  });

  it("middleware-16: middleware runs in reverse order: the one added last runs first", async () => {
    const notes: string[] = [];
    const { call } = await layered(
      kind,
      noting("first", notes),
      noting("second", notes),
      new CorsMiddleware(),
      noting("third", notes),
    );
    await call();
    expect(notes).toEqual([
      "third before app/echo",
      "second before app/echo",
      "first before app/echo",
      "first after",
      "second after",
      "third after",
    ]);
  });

  it("middleware sees the arguments and headers of the one outside it, and the result of the one inside (middleware-16)", async () => {
    const tag = (name: string): Middleware =>
      layer(async (_fqn, _version, args, headers, next) => {
        args.set("value", `${String(args.get("value"))} ${name}`);
        headers.set("x-tags", `${headers.get("x-tags") ?? ""}${name}`);
        return `${String(await next())} ${name} ${headers.get("x-tags")}`;
      });
    expect((await (await layered(kind, tag("inner"), tag("outer"))).call()).text).toBe(
      "a outer inner inner outerinner outer outerinner",
    );
  });

  it("the middleware of one call runs concurrently with that of another (middleware-16)", async () => {
    const { call } = await layered(
      kind,
      layer(async (_fqn, _version, args, headers, next) => {
        const value = args.get("value");
        await settle();
        const result = await next();
        headers.set("x-value", String(value));
        return [value, result];
      }),
    );
    const answers = await Promise.all([1, 2, 3].map((value) => call({ value })));
    expect(answers.map((answer) => [answer.text, answer.headers["x-value"]])).toEqual(
      [1, 2, 3].map((value) => [`[${value},${value}]`, `${value}`]),
    );
  });

  it("middleware-17, middleware-12, middleware-20: a middleware must always call next: otherwise the call answers 500 MiddlewareNotCompleted", async () => {
    const { call, ran } = await layered(
      kind,
      layer(async () => "made up"),
    );
    expect(await call()).toMatchObject({
      status: 500,
      text: "A middleware did not call next",
      headers: {
        "x-svc-error": "MiddlewareNotCompleted",
        "content-type": "text/plain; charset=utf-8",
      },
    });
    expect(ran).toEqual([]);
  });

  it("middleware-21: a middleware that did not call next is logged with its best name", async () => {
    const handle = async (): Promise<unknown> => "made up";
    class Forgetful implements Middleware {
      handle = handle;
    }
    const configured = { handle };
    nameMiddleware(configured, "src/layers/log.ts");
    const named = Object.assign({ handle }, { name: "rate limit" });
    const bare = Object.assign(Object.create(null) as Middleware, { handle });
    for (const [middleware, name] of [
      [new Forgetful(), "middleware Forgetful"],
      [configured, "middleware src/layers/log.ts"],
      [named, "middleware rate limit"],
      [{ handle }, "middleware number 2 (in the order added)"],
      [bare, "middleware number 2 (in the order added)"],
    ] as const) {
      const { call, log } = await layered(kind, noting("other", []), middleware);
      await call();
      expect(log.lines).toContain(
        `error: ${name} did not call next() for app/echo: every middleware must`,
      );
    }
  });

  it("middleware that calls next twice gets the result of one run twice (middleware-12)", async () => {
    let results: unknown[] = [];
    const { call, ran } = await layered(
      kind,
      layer(async (_fqn, _version, _args, _headers, next) => {
        results = [...(await Promise.all([next(), next()])), await next()];
        return results[0];
      }),
    );
    expect((await call()).text).toBe("a");
    expect(results).toEqual(["a", "a", "a"]);
    expect(ran).toHaveLength(1);
  });

  it("middleware that calls next after its answer was sent runs nothing, and is logged (middleware-12)", async () => {
    let late: Promise<unknown> = Promise.resolve();
    const { call, ran, log } = await layered(
      kind,
      layer(async (_fqn, _version, _args, _headers, next) => {
        late = later(next);
        return "early";
      }),
    );
    expect((await call()).headers["x-svc-error"]).toBe("MiddlewareNotCompleted");
    await expect(late).rejects.toThrow("next() was called after handle() had ended");
    expect(ran).toEqual([]);
    expect(log.lines.join("\n")).toContain(
      "called next() for app/echo after its handle() had ended: nothing was run",
    );
  });

  it("middleware that doesn't await next answers with its own result; a later failure is only logged (middleware-12)", async () => {
    const { call, ran, log } = await layered(
      kind,
      layer(async (_fqn, _version, _args, _headers, next) => {
        await settle();
        return await next();
      }),
      layer(async (_fqn, _version, _args, _headers, next) => {
        void next();
        return "at once";
      }),
    );
    expect((await call({ how: "own" }, "/rpc/app/fail")).text).toBe("at once");
    await settle();
    expect(ran).toEqual([["own"]]);
    expect(log.lines.join("\n")).toContain(
      "did not wait for next() of app/fail, which failed (no tea left)",
    );
  });

  it("a failure of next while middleware is busy and doesn't await it doesn't end the process (middleware-12)", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    const { call } = await layered(
      kind,
      layer(async (_fqn, _version, _args, _headers, next) => {
        void next();
        await settle();
        return "later";
      }),
    );
    expect((await call({ how: "own" }, "/rpc/app/fail")).text).toBe("later");
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });

  it("middleware-18: what a middleware sets in headers after next is sent with the response, on errors too", async () => {
    const { call } = await layered(
      kind,
      layer(async (_fqn, _version, _args, headers, next) => {
        headers.set("x-before", "1");
        try {
          return await next();
        } finally {
          headers.set("X-After", "2");
          headers.set("x-gone", "3");
          headers.delete("X-Gone");
        }
      }),
    );
    for (const [status, answer] of [
      [200, await call()],
      [200, await call({ value: { a: 1 } })],
      [404, await call({ how: "own" }, "/rpc/app/fail")],
      [400, await call({})],
    ] as const) {
      expect(answer).toMatchObject({ status, headers: { "x-after": "2" } });
      expect(Object.keys(answer.headers)).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/^x-(before|gone)$/)]),
      );
    }
  });

  it("headers are also sent if middleware inside refused before next, or replaced the error (middleware-18)", async () => {
    const stamp = layer(async (_fqn, _version, _args, headers, next) => {
      try {
        return await next();
      } finally {
        headers.set("x-request-id", "7");
      }
    });
    const refusing = layer(async () => Promise.reject(new Unauthorized("who are you?")));
    expect(await (await layered(kind, refusing, stamp)).call()).toMatchObject({
      status: 401,
      text: "who are you?",
      headers: { "x-request-id": "7" },
    });
    const replacing = layer(async (_fqn, _version, _args, headers, next) => {
      await next().catch(() => {});
      headers.set("x-inner", "8");
      throw new Unauthorized("hidden");
    });
    const answer = await (
      await layered(kind, replacing, stamp)
    ).call({ how: "own" }, "/rpc/app/fail");
    expect(answer).toMatchObject({ status: 401, headers: { "x-request-id": "7", "x-inner": "8" } });
  });

  it("every cookie that middleware sets is sent, and of other headers the last value (middleware-18)", async () => {
    const cookie = (name: string): Middleware =>
      layer(async (_fqn, _version, _args, headers, next) => {
        const result = await next();
        headers
          .set("Set-Cookie", `${name}=1; HttpOnly`)
          .set("set-cookie", `${name}=2`)
          .set("x-by", name);
        return result;
      });
    const { call } = await layered(kind, cookie("a"), cookie("b"));
    expect((await call()).headers).toMatchObject({
      "set-cookie": ["a=1; HttpOnly", "a=2", "b=1; HttpOnly", "b=2"],
      "x-by": "b",
    });
  });

  it("middleware-22: a content security policy that middleware sets is added to that of every answer, which it can't remove", async () => {
    const sandbox = "sandbox; default-src 'none'";
    const own = "default-src 'self'";
    const setting = layer(async (_fqn, _version, _args, headers, next) => {
      try {
        return await next();
      } finally {
        headers.set("content-security-policy", "script-src *").set("Content-Security-Policy", own);
      }
    });
    const removing = layer(async (_fqn, _version, _args, headers, next) => {
      headers.delete("content-security-policy");
      const result = await next();
      headers.delete("content-security-policy");
      headers.clear();
      return result;
    });
    const whenSet = await layered(kind, setting);
    for (const answer of [
      await whenSet.call(),
      await whenSet.call({ how: "own" }, "/rpc/app/fail"),
      await whenSet.call({ value: { a: 1 } }),
    ])
      expect(String(answer.headers["content-security-policy"])).toBe(`${sandbox},${own}`);
    const whenRemoved = await layered(kind, removing);
    for (const answer of [
      await whenRemoved.call(),
      await whenRemoved.call({ how: "own" }, "/rpc/app/fail"),
    ])
      expect(answer.headers["content-security-policy"]).toBe(sandbox);
  });

  it("middleware can't set response headers that describe the encoding of the body (middleware-18)", async () => {
    const refused: string[] = [];
    const { call } = await layered(
      kind,
      layer(async (_fqn, _version, _args, headers, next) => {
        const result = await next();
        for (const name of [
          "Content-Length",
          "transfer-encoding",
          "connection",
          "content-encoding",
          "x-svc-data-type",
          "x-svc-trust-key",
        ])
          try {
            headers.set(name, "1");
          } catch (error) {
            refused.push((error as Error).message);
          }
        return result;
      }),
    );
    expect(await call()).toMatchObject({
      status: 200,
      text: "a",
      headers: { "x-svc-data-type": "string" },
    });
    expect(refused).toHaveLength(6);
    expect(refused[0]).toBe(
      "A middleware can't set the response header 'content-length': the service sets it",
    );
  });
});

describe.each(["gateway", "proxy"] as const)("middleware on a %s", (kind) => {
  it("headers of the service behind are kept, whatever middleware makes of result or error (middleware-18)", async () => {
    const behind = layer(async (_fqn, _version, _args, headers, next) => {
      try {
        return await next();
      } finally {
        headers
          .set("set-cookie", "a=1")
          .set("x-behind", "1")
          .set("content-security-policy", "img-src *");
      }
    });
    const through = layer(async (_fqn, _version, _args, headers, next) => {
      const result = await next().catch(() => "instead");
      headers.set("set-cookie", "b=2");
      return result;
    });
    const { call, node } = await layered(kind, through);
    node.addMiddleware(behind);
    const policies = ["sandbox; default-src 'none'", "img-src *"];
    const expected = {
      "set-cookie": ["a=1", "b=2"],
      "x-behind": "1",
      "x-svc-node": "the node",
    };
    for (const answer of [
      await call(),
      await call({ value: { a: 1 } }),
      await call({ how: "own" }, "/rpc/app/fail"),
    ]) {
      expect(answer).toMatchObject({ status: 200, headers: expected });
      // As two fields or as one: to browsers both are two policies.
      expect([answer.headers["content-security-policy"]].flat().join(", ")).toBe(
        policies.join(", "),
      );
    }
  });
});

describe("a repository", () => {
  it("a repository answers no calls, and warns if middleware is added (middleware-15)", async () => {
    const { repository, log } = await services();
    repository.addMiddleware(new CorsMiddleware());
    expect(log.lines).toContain(
      "warning: this service doesn't take calls, so middleware added to it never runs",
    );
  });
});
