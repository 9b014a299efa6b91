import { getContext, type Middleware } from "seamline";
import { NotSignedIn } from "../errors.ts";
import { type SignedIn, userOf } from "./sessions.ts";

declare module "seamline" {
  interface Locals {
    /** Null: the caller hasn't signed in. */
    user?: SignedIn | null;
  }
}

/** The user who makes this call. */
export function signedIn(): SignedIn {
  const user = reader();
  if (user === null) throw new NotSignedIn();
  return user;
}

/** The user who makes this call, if signed in. */
export function reader(): SignedIn | null {
  return getContext().locals.user ?? null;
}

const middleware: Middleware = {
  async handle(fqn, _version, _args, headers, next) {
    const { cookies, locals } = getContext();
    // Undefined: no service has asked yet. The null stops the calls of this question from asking it.
    if (locals.user === undefined) {
      locals.user = null;
      // Pages have a cookie. Programs send a token, and never a cookie that a page could make them send.
      const token = fqn.startsWith("api/")
        ? /^Token (\S+)$/.exec(headers.get("authorization") ?? "")?.[1]
        : cookies.get("session");
      if (token !== undefined) locals.user = await userOf(token);
    }
    return await next();
  },
};

export default middleware;
