// The HTTP API as its users see it. With CONDUIT_URL the tests ask a running server, which may be any
// that follows the RealWorld specification (but for the tests of /rpc); without, the application in
// memory.
import { createTestCluster } from "seamline/testing";

export interface Answer {
  readonly status: number;
  // The tests look into it as a script would.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

export interface Api extends AsyncDisposable {
  send(method: string, path: string, token?: string, body?: unknown): Promise<Answer>;
}

export async function openApi(): Promise<Api> {
  const url = process.env["CONDUIT_URL"];
  if (url !== undefined) {
    return {
      send: sender((path, init) => fetch(url + path, init)),
      async [Symbol.asyncDispose]() {},
    };
  }
  process.env["CONDUIT_DATA"] = "memory://";
  const cluster = await createTestCluster({
    config: "./seamline.json",
    nodes: { accounts: "accounts", articles: ["articles", "database"], social: "social" },
  });
  return {
    send: sender((path, init) => cluster.fetch(path, init)),
    [Symbol.asyncDispose]: () => cluster.stop(),
  };
}

function sender(ask: (path: string, init: RequestInit) => Promise<Response>): Api["send"] {
  return async (method, path, token, body) => {
    const headers = new Headers();
    if (token !== undefined) headers.set("authorization", `Token ${token}`);
    if (body !== undefined) headers.set("content-type", "application/json");
    const answer = await ask(path.startsWith("/rpc/") ? path : `/api${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true;
    return { status: answer.status, body: isJson ? JSON.parse(text) : text || undefined };
  };
}
