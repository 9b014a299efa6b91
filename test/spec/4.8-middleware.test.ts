import { describe, expect, it } from "vitest";

import { CorsMiddleware } from "../../src/cors.ts";
import { Unauthorized } from "../../src/errors.ts";
import { type Middleware, nameMiddleware } from "../../src/middleware.ts";
import { ask, settle } from "../_cluster.ts";
import { kinds, layer, layered, services } from "./_services.ts";

/** Notes when it is entered and left. */
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
  it("§4.8-1 middleware can be added to node, gateway, proxy and standalone, before and after its start", async () => {
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

  it("§4.8-2 middleware runs in reversed order: the one that was added last runs first", async () => {
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

  it("sees what the one outside of it made of arguments and headers, and what the one inside made of the result (§4.8-2)", async () => {
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

  it("runs one call's layers beside those of another (§4.8-2)", async () => {
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
    expect(answers.map((one) => [one.text, one.headers["x-value"]])).toEqual(
      [1, 2, 3].map((value) => [`[${value},${value}]`, `${value}`]),
    );
  });

  it("§4.8-3 §2.7-12 D5.middleware-3 a middleware must always call next: what doesn't is answered with 500 MiddlewareNotCompleted", async () => {
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

  it("D5.middleware-4 a middleware that did not call next is logged by its name, the best that there is", async () => {
    const handle = async (): Promise<unknown> => "made up";
    class Forgetful implements Middleware {
      handle = handle;
    }
    const configured = { handle };
    nameMiddleware(configured, "src/layers/log.ts");
    const named = Object.assign({ handle }, { name: "rate limit" });
    const bare = Object.assign(Object.create(null) as Middleware, { handle });
    for (const [given, name] of [
      [new Forgetful(), "middleware Forgetful"],
      [configured, "middleware src/layers/log.ts"],
      [named, "middleware rate limit"],
      [{ handle }, "middleware number 2, in the order in which they were added,"],
      [bare, "middleware number 2, in the order in which they were added,"],
    ] as const) {
      const { call, log } = await layered(kind, noting("other", []), given);
      await call();
      expect(log.lines).toContain(
        `error: ${name} did not call next() for app/echo: every middleware must (§4.8)`,
      );
    }
  });

  it("that calls next twice gets one run's result twice (§2.7-12)", async () => {
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

  it("that calls next when its answer is out runs nothing, and is logged (§2.7-12)", async () => {
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

  it("that doesn't wait for next answers with its own result; a failure that comes later is logged, and ends nothing (§2.7-12)", async () => {
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

  it("that doesn't wait for next, and is still busy when that fails, ends nothing either (§2.7-12)", async () => {
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

  it("D5.middleware-1 what a middleware sets in headers after next is sent with the response, on errors too", async () => {
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

  it("sends them too when a layer inside refused before next, or replaced the error (D5.middleware-1)", async () => {
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

  it("sends each cookie that is set, and of other headers the last (D5.middleware-1)", async () => {
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

  it("D5.middleware-5 a content security policy that a middleware sets goes beside that of every answer, which none takes away", async () => {
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
    const one = await layered(kind, setting);
    for (const answer of [
      await one.call(),
      await one.call({ how: "own" }, "/rpc/app/fail"),
      await one.call({ value: { a: 1 } }),
    ])
      expect(String(answer.headers["content-security-policy"])).toBe(`${sandbox},${own}`);
    const other = await layered(kind, removing);
    for (const answer of [await other.call(), await other.call({ how: "own" }, "/rpc/app/fail")])
      expect(answer.headers["content-security-policy"]).toBe(sandbox);
  });

  it("can't set headers of the response that say how it is written (D5.middleware-1)", async () => {
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
      "A middleware can't set the header 'content-length' of a response: it is made with the answer",
    );
  });
});

describe.each(["gateway", "proxy"] as const)("middleware on a %s", (kind) => {
  it("leaves what the service behind said in its headers, whatever becomes of result or error (D5.middleware-1)", async () => {
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
      "content-security-policy": policies,
    };
    for (const answer of [
      await call(),
      await call({ value: { a: 1 } }),
      await call({ how: "own" }, "/rpc/app/fail"),
    ])
      expect(answer).toMatchObject({ status: 200, headers: expected });
  });
});

describe("a repository", () => {
  it("answers no calls, and says so where middleware is added (§4.8-1)", async () => {
    const { repository, log } = await services();
    repository.addMiddleware(new CorsMiddleware());
    expect(log.lines).toContain(
      "warning: this service answers no calls: middleware that is added to it never runs (§4.8)",
    );
  });
});
