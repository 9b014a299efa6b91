// The console's controls on a real development server: what they change, and what they refuse.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ViteDevServer } from "vite";
import { expect, it } from "vitest";
import { refuseControlsToOthers } from "../../server/dev/controls.ts";
import { raw } from "../unit/server/_raw.ts";
import { develop, eventually, type Running, shop } from "../dev/_session.ts";

const json = { "content-type": "application/json" };

async function signIn({ session }: Running): Promise<Readonly<Record<string, string>>> {
  const token = /#token=(\w+)$/.exec(session.consoleUrl() ?? "")?.[1];
  const answer = await fetch(`${session.url}/svc/console/session`, {
    method: "POST",
    headers: { ...json, origin: session.url },
    body: JSON.stringify({ token }),
  });
  const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
  return { ...json, cookie, origin: session.url };
}

async function control(
  { session }: Running,
  name: string,
  values: unknown,
  headers: Readonly<Record<string, string>>,
): Promise<[status: number, text: string]> {
  const url = `${session.url}/svc/console/development/${name}`;
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(values) });
  return [answer.status, await answer.text()];
}

it("a move through the console changes the segment files, and the procedure runs elsewhere", async () => {
  const running = await develop(shop);
  const headers = await signIn(running);
  const values = { procedure: "shop/quote", segment: "store" };
  expect(await control(running, "move", values, headers)).toEqual([204, ""]);
  const text = readFileSync(join(running.root, "segments/store.segment.json"), "utf8");
  expect(JSON.parse(text)).toMatchObject({ "./shop/quote": { quote: { access: "public" } } });
  const { procedures } = await running.nextEvent("moved");
  expect(procedures).toEqual([{ fqn: "shop/quote", from: ["office"], to: ["store"] }]);
});

it("a control with an unknown name answers 400 and changes nothing", async () => {
  const running = await develop(shop);
  const headers = await signIn(running);
  const moved = (procedure: string, segment: string) =>
    control(running, "move", { procedure, segment }, headers);
  expect(await moved("shop/none", "store")).toEqual([400, "There is no procedure 'shop/none'"]);
  expect(await moved("constructor", "store")).toEqual([400, "There is no procedure 'constructor'"]);
  for (const name of ["../store", "a/b", ".", "a b", "é", "-a", "a".repeat(101)])
    expect(await moved("shop/quote", name)).toEqual([
      400,
      `'${name}' can't be the name of a new segment: use letters, digits, - and _`,
    ]);
  expect(await control(running, "kill", { node: "toString" }, headers)).toEqual([
    400,
    "There is no node 'toString'; there is office, store",
  ]);
  expect(existsSync(join(running.root, "store.segment.json"))).toBe(false);
});

it("a killed node is shown as stopped, and starts again", async () => {
  const running = await develop(shop);
  const headers = await signIn(running);
  const stateOf = async (name: string): Promise<string | undefined> => {
    const answer = await fetch(`${running.session.url}/svc/console/state`, { headers });
    const { development } = (await answer.json()) as {
      development: { nodes: { name: string; state: string }[] };
    };
    return development.nodes.find((node) => node.name === name)?.state;
  };
  expect(await control(running, "kill", { node: "store" }, headers)).toEqual([204, ""]);
  expect(await stateOf("store")).toBe("stopped");
  expect(await control(running, "start", { node: "store" }, headers)).toEqual([204, ""]);
  expect(
    await eventually(
      () => stateOf("store"),
      (state) => state === "ready",
    ),
  ).toBe("ready");
});

it("Vite refuses host names that resolve to this machine, and the console refuses their pages", async () => {
  const running = await develop(shop);
  const headers = await signIn(running);
  const values = { procedure: "shop/quote", segment: "store" };
  const crossSite = { ...headers, origin: "http://evil.example" };
  expect(await control(running, "move", values, crossSite)).toEqual([404, "Not found"]);
  const { port } = new URL(running.session.url);
  const body = JSON.stringify(values);
  const host = `evil.example:${port}`;
  const lines = [
    "POST /svc/console/development/move HTTP/1.1",
    `host: ${host}`,
    `origin: http://${host}`,
    `cookie: ${headers["cookie"]}`,
    "content-type: application/json",
    `content-length: ${body.length}`,
    "connection: close",
  ];
  const { session } = running;
  const answer = await raw(session, `${lines.join("\r\n")}\r\n\r\n${body}`).closed();
  expect(answer).toMatch(/^HTTP\/1\.1 403 /);
});

it("other machines get 404 from the controls, but can use the rest of the console", () => {
  let handler: (message: unknown, response: unknown, next: () => void) => void = () => {};
  const middlewares = { use: (added: typeof handler) => void (handler = added) };
  refuseControlsToOthers({ middlewares } as unknown as ViteDevServer);
  const statusFor = (url: string, remoteAddress: string | undefined): number => {
    const response = { statusCode: 0, end() {} };
    handler({ url, socket: { remoteAddress } }, response, () => (response.statusCode = 200));
    return response.statusCode;
  };
  const path = "/svc/console/development/kill";
  for (const loopback of ["127.0.0.1", "127.8.0.1", "::1", "::ffff:127.0.0.1"])
    expect(statusFor(path, loopback)).toBe(200);
  for (const remote of ["192.168.1.7", "::ffff:10.0.0.1", "fe80::1", "1127.0.0.1", undefined])
    expect(statusFor(path, remote)).toBe(404);
  expect(statusFor("/svc/console/state", "192.168.1.7")).toBe(200);
});
