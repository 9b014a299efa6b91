import { describe, expect, it } from "vitest";

import { CorsMiddleware } from "../../src/http/cors.ts";
import { type Middleware, signatureProblem } from "../../src/http/middleware.ts";

const problemOf = (handle: unknown): string | undefined =>
  signatureProblem({ handle } as Middleware);
type Next = () => Promise<unknown>;

class Base {
  async handle(
    fqn: string,
    version: unknown,
    args: unknown,
    headers: unknown,
    next: Next,
  ): Promise<unknown> {
    return await next();
  }
}
class Derived extends Base {}

describe("a middleware's handle", () => {
  it.each<[string, unknown]>([
    [
      "has our five",
      async (_fqn: unknown, _version: unknown, _args: unknown, _headers: unknown, next: Next) =>
        await next(),
    ],
    ["is a method", new Base().handle],
    ["is inherited", new Derived().handle],
    ["takes none, and always throws", async () => await Promise.reject(new Error("closed"))],
    ["takes all as a rest", async (...all: Next[]) => await all[4]?.()],
    ["takes some as a rest", async (_fqn: unknown, ...rest: Next[]) => await rest[3]?.()],
    ["takes a rest that is a pattern", async (...[, , , , next]: Next[]) => await next?.()],
    [
      "has a default",
      async (
        _fqn: unknown,
        _version: unknown,
        _args: unknown,
        _headers: unknown,
        next: Next = async () => 1,
      ) => await next(),
    ],
    [
      "has defaults all over",
      async (
        _fqn = "",
        _version = 1,
        _args = {},
        _headers = new Map([["(", ")"]]),
        next: Next = async () => 1,
      ) => await next(),
    ],
    [
      "has a default in a pattern",
      async (
        _fqn: unknown,
        { major = 1 }: { major?: number },
        _args: unknown,
        _headers: unknown,
        next: Next,
      ) => [major, await next()],
    ],
    [
      "reads arguments",
      async function (fqn: string) {
        return [fqn, await (arguments[4] as Next)()];
      },
    ],
    ["is bound", new Base().handle.bind(undefined)],
    [
      "is bound to something that takes a rest",
      Function.prototype.bind.call((fqn: string, ...rest: unknown[]) => [fqn, rest], undefined),
    ],
    ["is CORS's", new CorsMiddleware().handle],
    [
      "has comments",
      async (
        /* the name) */ _fqn: unknown,
        _version: unknown, // (or so
        _args: unknown,
        _headers: unknown,
        next: Next,
      ) => await next(),
    ],
  ])("may be one that %s", (_, handle) => {
    expect(problemOf(handle)).toBeUndefined();
  });

  it.each<[string, unknown, string]>([
    ["Koa", async (context: unknown, next: Next) => [context, await next()], "(context, next)"],
    ["Express", (req: unknown, res: unknown, next: () => void) => next(), "(req, res, next)"],
    [
      "Connect's errors",
      (error: unknown, req: unknown, res: unknown, next: () => void) => next(),
      "(error, req, res, next)",
    ],
    ["one with a single parameter", async (request: unknown) => request, "(request)"],
    [
      "a pattern in place of a context",
      async ({ request }: { request: unknown }, next: Next) => [request, await next()],
      "({ request }, next)",
    ],
    [
      "one parameter too many",
      async (a: unknown, b: unknown, c: unknown, d: unknown, next: Next, f: unknown) => [
        f,
        await next(),
      ],
      "(a, b, c, d, next, f)",
    ],
    [
      "a method of another framework",
      class {
        static async handle(context: unknown, next: Next) {
          return [context, await next()];
        }
      }.handle,
      "(context, next)",
    ],
    [
      "a function",
      function handle(req: unknown, res: unknown) {
        return [req, res];
      },
      "(req, res)",
    ],
  ])("of another framework is refused: %s", (_, handle, shown) => {
    expect(problemOf(handle)).toBe(
      `its handle takes ${shown}, but must take (fqn, version, args, headers, next), or a rest parameter`,
    );
  });
});
