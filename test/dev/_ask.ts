// Requests exactly as written: `fetch` normalises paths and adds headers.

import { request } from "node:http";

export interface TestRequest {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export async function ask(
  origin: string,
  { path, method = "GET", headers = {} }: TestRequest,
): Promise<Answer> {
  const { hostname, port } = new URL(origin);
  return await new Promise((resolve, reject) => {
    request({ hostname, port, path, method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text, headers: response.headers }),
      );
    })
      .on("error", reject)
      .end();
  });
}
