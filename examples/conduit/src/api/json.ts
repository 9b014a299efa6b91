// The shared part of the HTTP API's routes.
import { InvalidParameterValue, statusOf } from "seamline";
import type { Page } from "../articles/lists.ts";
import { Invalid, refused } from "../errors.ts";

type Route = (request: Request) => Promise<Response>;

/** A route that sends what `handle` gives, or its error: {"errors": {"title": ["can't be blank"]}}. */
export function json(handle: (request: Request) => Promise<object | void>, status = 200): Route {
  return async (request) => {
    try {
      const body = await handle(request);
      return body ? answerOf(body, status, request) : new Response(null, { status: 204 });
    } catch (error) {
      if (error instanceof InvalidParameterValue)
        return Response.json({ errors: refused(error) }, { status: 422 });
      if (!(error instanceof Error) || !("errors" in error)) throw error;
      return Response.json({ errors: error.errors }, { status: statusOf(error) });
    }
  };
}

function answerOf(body: object, status: number, request: Request): Response {
  // Pictures that were uploaded have a path here, and readers may be of any origin.
  const absolute = (key: string, value: unknown): unknown =>
    key === "image" && typeof value === "string" ? new URL(value, request.url).href : value;
  const headers = { "content-type": "application/json" };
  return new Response(JSON.stringify(body, absolute), { status, headers });
}

/** The object under `key` in the request's body. What it holds is checked by those who use it. */
export async function bodyOf<T extends object>(request: Request, key: string): Promise<T> {
  const body: unknown = await request.json().catch(() => undefined);
  const value =
    typeof body === "object" && body !== null ? (body as Record<string, unknown>)[key] : undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Invalid({ body: [`must be JSON, with an object '${key}'`] });
  return value as T;
}

/** Values stay text, but for the two that say which page. */
export function queryOf(request: Request): Page & Readonly<Record<string, string | number>> {
  const { limit, offset, ...rest } = Object.fromEntries(new URL(request.url).searchParams);
  return {
    ...rest,
    ...(limit === undefined ? {} : { limit: Number(limit) }),
    ...(offset === undefined ? {} : { offset: Number(offset) }),
  };
}
