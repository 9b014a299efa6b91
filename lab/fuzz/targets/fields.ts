// The parsers of a request's head: cookies, routes, addresses; and those of fields between services.

import { ServiceError, BadRequest } from "../../../src/base/errors.ts";
import { parseAddress } from "../../../src/base/ip.ts";
import { decodeLocals } from "../../../src/codec/locals.ts";
import { parseMultipart } from "../../../src/codec/multipart/parse-multipart.ts";
import { defaultLimits } from "../../../src/base/limits.ts";
import { CookieReader, setCookie } from "../../../src/http/context/cookies.ts";
import { readSettings } from "../../../src/http/context/settings-form.ts";
import { readRoute, type RoutePattern, routesClash } from "../../../src/http/route-pattern.ts";
import { createRouteTable } from "../../../src/http/route-table.ts";
import { readRoutes } from "../../../src/roles/members/route-list.ts";
import { headProblem } from "../../../src/wire/request-head.ts";
import { mutateBytes, mutateText, mutateTree, oddTexts } from "../mutate.ts";
import { Finding, type Target, tolerate } from "../target.ts";
import { randomText, randomTree } from "../values.ts";

const cookies: Target = {
  name: "cookies",
  attempt(random) {
    const field = mutateText(random, 'a=b; c="d"; __proto__=x; e=%F0%9F; =f; g; $h=i', [
      "=",
      ";",
      '"',
      "%",
      "%zz",
      "__proto__=",
      "constructor=",
      ",",
      "\\",
      "a=",
      "\x7f",
      "\xff",
    ]);
    const reader = new CookieReader(new Map([["cookie", field]]));
    for (const name of ["a", "__proto__", "constructor", "toString", randomText(random)]) {
      const value: unknown = tolerate({ field, name }, [], () => reader.get(name));
      if (value !== undefined && typeof value !== "string")
        throw new Finding(`the cookie ${name} is ${typeof value}`, field);
    }
    const options = {
      path: random.pick(["/", "", "a", "/;", "/\r\n"]),
      domain: random.pick(["a.b", "", ";", "\n", "日"]),
    };
    const [name, value] = [mutateText(random, "name"), mutateText(random, "value")];
    const set = tolerate({ name, value, options }, [TypeError], () =>
      setCookie(name, value, options, {
        secureCookies: random.once(2),
        base: random.pick(["", "/shop"]),
      }),
    );
    if (set !== undefined && /[^ -~]/.test(set.text))
      throw new Finding("writes a field that isn't one", { name, value, options, text: set.text });
  },
};

const patterns = ["GET /a/:b", "POST /a/b", "* /a/*rest", "PUT /a/:b/c", "GET /ü/x", "DELETE /a"];

const routes: Target = {
  name: "routes",
  attempt(random) {
    const read = random.list(6, () => {
      const text = random.once(3)
        ? random.pick(patterns)
        : mutateText(random, random.pick(patterns));
      return tolerate(text, [], () => readRoute(text));
    });
    const known: RoutePattern[] = [];
    for (const route of read)
      if (route !== undefined && "path" in route && !known.some((had) => routesClash(had, route)))
        known.push(route);
    const table = tolerate(known, [], () => createRouteTable(known));
    const target = mutateText(
      random,
      random.pick(["/a/b", "/a/b/c?d=e", "/a/%C3%BC/x", "/%C3%BC/x"]),
      ["/", "//", "%2F", "%2e", "..", ".", "%", "%00", "\\", "#", "?", "%5C", "%C3", ":b", "*"],
    );
    const match = tolerate({ known, target }, [], () =>
      table?.match(random.pick(["GET", "HEAD", "POST", "PUT", "OPTIONS", "X"]), target),
    );
    if (match?.kind !== "found") return;
    for (const value of Object.values(match.params))
      if (typeof value !== "string" || /(?:^|[/\\])\.{1,2}(?:[/\\]|$)/.test(value))
        throw new Finding(`gives the parameter ${JSON.stringify(value)}`, { known, target });
  },
};

const routeList: Target = {
  name: "route lists",
  attempt(random) {
    const valid = [
      { name: "a/b", method: "POST", path: "/hooks/:id" },
      { name: "c/d", method: "*", path: "/files/*rest" },
    ];
    const list: unknown = mutateTree(random, valid, (leaf) => randomTree(leaf, 2));
    tolerate(list, [BadRequest], () => createRouteTable(readRoutes(list)));
  },
};

const addresses: Target = {
  name: "addresses",
  attempt(random) {
    const texts = [
      "127.0.0.1",
      "::ffff:1.2.3.4",
      "fe80::1%eth0",
      "64:ff9b::10.1.2.3",
      "2001:db8::1",
    ];
    const text = mutateText(random, random.pick(texts), [
      ":",
      "::",
      ".",
      "/",
      "0",
      "255",
      "256",
      "0x7f",
      "ffff",
      "%1",
      "[",
      "]",
      "-1",
      "1e2",
    ]);
    const address = tolerate(text, [], () => parseAddress(text));
    if (address !== undefined && !address.every((part) => part >= 0 && part <= 0xffff))
      throw new Finding(`reads ${JSON.stringify(address)}`, text);
  },
};

const crlf = "\r\n";
const form = [
  "--b",
  'Content-Disposition: form-data; name="args"',
  "",
  '{"a":1}',
  "--b",
  "Content-Disposition: form-data; name=f0; filename*=UTF-8''a%20b",
  "Content-Type: x/y",
  "",
  "bytes",
  "--b--",
  "",
].join(crlf);

const multipart: Target = {
  name: "multipart",
  attempt(random) {
    const body = mutateBytes(random, Buffer.from(form), [
      crlf,
      "--b",
      "--b--",
      `${crlf}--b${crlf}`,
      '"',
      "\\",
      ";",
      "name=",
      "filename*=",
      ":",
      "=",
      "Content-Disposition: form-data; ",
      "UTF-8''%FF",
      "__proto__",
      "\xff",
      "\0",
      "%22",
    ]);
    const type = random.once(4)
      ? mutateText(random, 'multipart/form-data; boundary="b"')
      : "multipart/form-data; boundary=b";
    const parts = tolerate({ type, body: Buffer.from(body).toString("latin1") }, [BadRequest], () =>
      parseMultipart(body, type, defaultLimits),
    );
    for (const { name } of parts ?? [])
      if (name === "__proto__") throw new Finding("lets a part be named __proto__", body);
  },
};

/** Fields that services send each other, and the head that they come in. */
const heads: Target = {
  name: "heads",
  attempt(random) {
    const rawHeaders = random
      .list(30, () => [
        random.pick(["Host", "host", "X-A", "Connection", "x-svc-hops", "Content-Length", ""]),
        mutateText(random, random.pick(["a.b:80", "keep-alive, x-a", "12"])),
      ])
      .flat();
    const target = mutateText(random, random.pick(["/a?b", "http://a.b:80/c", "*", "a.b:443"]));
    const input = { target, rawHeaders };
    const limits = { headerBytes: 500, headerCount: 20 };
    const problem = tolerate(input, [], () => headProblem({ target, rawHeaders }, limits));
    if (problem !== undefined && !(problem instanceof ServiceError))
      throw new Finding("finds a problem that isn't an error of ours", input);
    const settings = mutateTree(
      random,
      {
        headers: [["cache-control", ["no-store"], true]],
        cookies: [["k", "a=b; Path=/"]],
        status: 201,
      },
      (leaf) => randomTree(leaf, 2),
    );
    tolerate(settings, [TypeError], () => readSettings(settings));
    const text = random.once(2)
      ? JSON.stringify(randomTree(random))
      : mutateText(random, '{"user":{"serialized":true,"name":"Set","values":[1]}}', oddTexts);
    tolerate(text, [BadRequest], () => decodeLocals(text));
  },
};

export const fieldTargets: readonly Target[] = [
  cookies,
  routes,
  routeList,
  addresses,
  multipart,
  heads,
];
