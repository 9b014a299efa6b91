// Middleware and health checks, in the forms in which people write them.

import {
  type Args,
  type CallHeaders,
  CorsMiddleware,
  type HealthCheck,
  type Middleware,
  type Version,
} from "seamline";
import type { Server } from "seamline/server";
import { describe, expectTypeOf, it } from "vitest";

const server: Server = {} as Server;

describe("Middleware", () => {
  it("types the parameters of an object", () => {
    server.addMiddleware({
      async handle(fqn, version, args, headers, next) {
        expectTypeOf(fqn).toEqualTypeOf<string>();
        expectTypeOf(version).toEqualTypeOf<Version>();
        expectTypeOf(args).toEqualTypeOf<Args>();
        expectTypeOf(headers).toEqualTypeOf<CallHeaders>();
        expectTypeOf(next).toEqualTypeOf<() => Promise<unknown>>();
        args.set("cloth", "tweed");
        headers.set("x-seen", "yes");
        return await next();
      },
    });
  });

  it("is implemented by a class", () => {
    class Log implements Middleware {
      async handle(
        fqn: string,
        version: Version,
        _args: Args,
        _headers: CallHeaders,
        next: () => Promise<unknown>,
      ): Promise<unknown> {
        expectTypeOf(version.major).toEqualTypeOf<number>();
        return [fqn, await next()];
      }
    }
    server.addMiddleware(new Log());
    server.addMiddleware(new CorsMiddleware("https://a.b", "x-user"));
  });

  it("is refused if handle is missing or isn't async", () => {
    // @ts-expect-error handle is missing
    server.addMiddleware({});
    // @ts-expect-error handle gives no promise
    server.addMiddleware({ handle: () => "done" });
    server.addMiddleware({
      // @ts-expect-error next takes nothing
      handle: async (_fqn, _version, _args, _headers, next) => await next("changed"),
    });
    // @ts-expect-error the version can't be changed
    server.addMiddleware({ handle: async (_fqn, version) => void (version.major = 2) });
    server.addMiddleware({
      // @ts-expect-error the value of a header is a string
      handle: async (_fqn, _version, _args, headers) => void headers.set("x-count", 1),
    });
    void new CorsMiddleware(["https://a.b", "https://c.d"], "*", {
      credentials: true,
      exposeHeaders: ["x-total"],
    });
    // @ts-expect-error an origin is a text
    void new CorsMiddleware([1]);
    // @ts-expect-error credentials is true or false
    void new CorsMiddleware("https://a.b", "*", { credentials: "include" });
  });
});

describe("HealthCheck", () => {
  it("has isHealthy, and may have details", () => {
    server.addHealthCheck("always", { isHealthy: async () => true });
    server.addHealthCheck("disk", {
      isHealthy: async () => true,
      details: async () => ({ free: 12 }),
    });
    class Database implements HealthCheck {
      async isHealthy(): Promise<boolean> {
        return true;
      }
    }
    server.addHealthCheck("database", new Database());
  });

  it("is refused if isHealthy is missing or doesn't return a boolean", () => {
    // @ts-expect-error isHealthy is missing
    server.addHealthCheck("none", {});
    // @ts-expect-error it gives no promise
    server.addHealthCheck("sync", { isHealthy: () => true });
    // @ts-expect-error a text is no answer
    server.addHealthCheck("text", { isHealthy: async () => "yes" });
    // @ts-expect-error a check has a name
    server.addHealthCheck({ isHealthy: async () => true });
  });
});
