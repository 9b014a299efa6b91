// The OpenAPI document of a running service, and clients that others' generators make of it.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root, ts } from "../_sources.ts";
import { expectValid } from "../contract/_openapi.ts";
import { anyPort, type Application, createApplication, type Service } from "./_application.ts";

const source = `
/** A line of an order. */
export interface Line { sku: string; metres: number; colour?: "red" | "blue" }
export interface Receipt { number: bigint; due: Date; lines: Line[] }
interface Hidden { secret: string }
/** Orders some lines. */
export async function order(lines: Line[], due: Date, note?: string): Promise<Receipt> {
  return { number: 9007199254740993n, due, lines };
}
/** Finds lines. */
export async function find(term: string, limit = 20, tags: string[] = []): Promise<Line[]> {
  return [{ sku: term + tags.join(), metres: limit }];
}
export async function about(line: Line): Promise<string> { return line.metres + " m of " + line.sku; }
export async function forget(sku: string): Promise<void> {
  if (sku === "none") throw new RangeError("no such line");
}
export async function size(file: File): Promise<number> { return file.size; }
export async function quote(): Promise<number> { return 1; }
export async function quote2(): Promise<number> { return 2; }
export async function inside(hidden: Hidden): Promise<void> {}
export async function page(): Promise<Response> { return new Response("page"); }
`;

const entries = {
  order: { access: "public" },
  find: { access: "public", safe: true },
  about: { access: "public", safe: true },
  forget: { access: "public" },
  size: { access: "public" },
  quote: { access: "public", safe: true },
  quote2: { access: "public", as: "quote", version: "2", safe: true },
  inside: { access: "protected" },
};

let application: Application;
let service: Service;
const token = "a-token-of-twenty-letters";

beforeAll(async () => {
  application = await createApplication();
  const checked = Object.fromEntries(
    Object.entries(entries).map(([name, entry]) => [name, { ...entry, validate: true }]),
  );
  await application.put("src/shop/lines.ts", source);
  await application.put("shop.segment.json", {
    "./shop/lines": { ...checked, page: { access: "public", route: "GET /pages/:id" } },
  });
  const standalone = { mode: "standalone", url: anyPort };
  service = await application.service("open", { ...standalone, openapi: true });
});
afterAll(async () => await application.remove());

const at = async (path: string, init?: RequestInit): Promise<Response> =>
  await fetch(service.url + path, init);

describe("the document", () => {
  it("is what seamline openapi prints, valid, and has nothing that isn't public", async () => {
    const answer = await at("/svc/openapi.json");
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    const document = (await answer.json()) as { paths: object };
    await expectValid(document);
    expect(Object.keys(document.paths)).toEqual([
      "/rpc/shop/about",
      "/rpc/shop/find",
      "/rpc/shop/forget",
      "/rpc/shop/order",
      "/rpc/shop/quote",
      "/rpc/shop/quote@2.0.0",
      "/rpc/shop/size",
      "/pages/{id}",
    ]);
    expect(JSON.stringify(document)).not.toMatch(/Hidden|secret|inside|lines\.ts/);
    const command = application.seamline(["openapi", "--config", "open.json", "--out", "api.json"]);
    expect(await command.ended()).toBe(0);
    const written = await readFile(join(application.root, "api.json"), "utf8");
    expect(JSON.parse(written)).toEqual(document);
  });

  it("An unchanged one isn't sent again", async () => {
    const etag = (await at("/svc/openapi.json")).headers.get("etag") ?? "";
    const again = await at("/svc/openapi.json", { headers: { "if-none-match": etag } });
    expect(again.status).toBe(304);
  });

  it("openapi-11: The document is served only where the configuration says so, and to those who have its token", async () => {
    const standalone = { mode: "standalone", url: anyPort };
    const closed = await application.service("closed", standalone);
    const { url } = await application.service("token", { ...standalone, openapi: { token } });
    for (const name of ["openapi", "contract"]) {
      const path = `/svc/${name}.json`;
      expect((await fetch(closed.url + path)).status, path).toBe(404);
      const refused = await fetch(url + path);
      expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
      const wrong = await fetch(url + path, { headers: { authorization: "Bearer a-token" } });
      expect(wrong.status, path).toBe(401);
      const right = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
      expect(right.status, path).toBe(200);
    }
  });

  it("A proxy passes on that of its repository", async () => {
    const trustKey = "the-key-of-this-deployment-of-tests";
    const more = { url: anyPort, trustKey };
    const repository = await application.service("repository", {
      ...more,
      mode: "repository",
      openapi: { token },
    });
    const gateway = await application.service("gateway", {
      ...more,
      mode: "gateway",
      repository: repository.url,
    });
    const proxy = await application.service("proxy", {
      ...more,
      mode: "proxy",
      gateway: gateway.url,
      repository: repository.url,
    });
    const path = `${proxy.url}/svc/openapi.json`;
    expect((await fetch(path)).status).toBe(401);
    const answer = await fetch(path, { headers: { authorization: `Bearer ${token}` } });
    expect(await answer.json()).toEqual(await (await at("/svc/openapi.json")).json());
  });
});

describe("clients", () => {
  it("A generated one in TypeScript (swagger-typescript-api)", async () => {
    const generator = join(root, "node_modules/swagger-typescript-api/dist/cli.mjs");
    const from = `${service.url}/svc/openapi.json`;
    const words = ["generate", "--silent", "-p", from, "-o", application.root, "-n", "client.ts"];
    await promisify(execFile)(process.execPath, [generator, ...words]);
    const code = await readFile(join(application.root, "client.ts"), "utf8");
    const file = join(application.root, "client.mjs");
    await writeFile(
      file,
      ts.transpileModule(code, {
        compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
      }).outputText,
    );
    const { Api } = (await import(file)) as { Api: new (options: object) => Client };
    const { rpc } = new Api({
      baseUrl: service.url,
      baseApiParams: { headers: { accept: "application/json" } },
    });
    const results = [
      await rpc.shopFind({ term: "red", limit: 3, tags: ["a", "b"] }),
      await rpc.shopOrder({ lines: [{ sku: "a", metres: 2 }], due: "2026-12-01T00:00:00Z" }),
      await rpc.shopAbout({ line: { sku: "a", metres: 2 } }),
      await rpc.shopSize({ file: new File(["abc"], "a.txt") }),
      await rpc.shopQuote(),
      await rpc.shopQuote200(),
    ];
    expect(results.map(({ data }) => data)).toEqual([
      [{ sku: "reda,b", metres: 3 }],
      {
        number: "9007199254740993",
        due: "2026-12-01T00:00:00.000Z",
        lines: [{ sku: "a", metres: 2 }],
      },
      "2 m of a",
      3,
      1,
      2,
    ]);
    expect((await rpc.shopForget({ sku: "one" })).status).toBe(204);
    const failure = (await rpc
      .shopOrder({ lines: [{ metres: "12" }], due: "soon" })
      .catch((answer: unknown) => answer)) as Response & { error?: unknown };
    expect(failure.status).toBe(400);
    expect(failure.error ?? (await failure.json())).toMatchObject({
      type: "urn:seamline:InvalidParameterValue",
      faults: [
        { path: "lines[0].sku", message: "missing" },
        { path: "lines[0].metres", message: "expected number, got text" },
        { path: "due" },
      ],
    });
  });

  it("One in Perl (OpenAPI::Client), which makes its methods of the document", async () => {
    // It would fetch the schema of OpenAPI itself.
    const validator = createRequire(import.meta.url).resolve("@seriousme/openapi-schema-validator");
    const cache = join(application.root, "schemas");
    await mkdir(cache);
    const name = createHash("md5")
      .update("https://spec.openapis.org/oas/3.1/schema/2021-05-20")
      .digest("hex");
    await copyFile(join(dirname(validator), "schemas/v3.1/schema.json"), join(cache, name));
    const { stdout } = await promisify(execFile)("perl", ["-e", perl, service.url], {
      env: { ...process.env, JSON_VALIDATOR_CACHE_PATH: cache },
    });
    const answers = stdout.trim().split("\n");
    expect(answers).toEqual([
      '200 [{"metres":5,"sku":"red"}]',
      '200 {"due":"2026-12-01T00:00:00.000Z","lines":[{"metres":2,"sku":"a"}],"number":"9007199254740993"}',
      '200 "2 m of a"',
      "204 null",
      '500 "no such line"',
      // It checks arguments by the document, before it sends anything.
      String.raw`400 ["\/body\/lines"]`,
    ]);
  });
});

const perl = String.raw`
use strict; use warnings; use OpenAPI::Client; use Mojo::URL; use Mojo::JSON qw(encode_json);
my $api = OpenAPI::Client->new("$ARGV[0]/svc/openapi.json")->base_url(Mojo::URL->new($ARGV[0]));
$api->ua->on(start => sub { $_[1]->req->headers->accept("application/json") });
my $line = {sku => "a", metres => 2};
for my $call (
  $api->shop_find({term => "red", limit => 5}),
  $api->shop_order({body => {lines => [$line], due => "2026-12-01T00:00:00Z"}}),
  $api->shop_about({body => {line => $line}}),
  $api->shop_forget({body => {sku => "one"}}),
  $api->shop_forget({body => {sku => "none"}}),
  $api->shop_order({body => {due => "2026-12-01T00:00:00Z"}}),
) {
  my $value = $call->res->json;
  $value = $value->{detail} // [map { $_->{path} } @{$value->{errors}}] if $call->res->code >= 400;
  print $call->res->code, " ", encode_json($value), "\n";
}
`;

interface Called {
  readonly data: unknown;
  readonly status: number;
}
type Call = (args?: object) => Promise<Called>;
interface Client {
  readonly rpc: Readonly<
    Record<
      | "shopFind"
      | "shopOrder"
      | "shopAbout"
      | "shopForget"
      | "shopSize"
      | "shopQuote"
      | "shopQuote200",
      Call
    >
  >;
}

it("openapi-12: Two operations of one id are a problem of seamline openapi, and of builds that will serve it", async () => {
  const other = await createApplication();
  try {
    await other.put("src/shop_a/d.ts", "export async function b_c() {}");
    await other.put("src/shop/a/b_c.ts", "export async function b_c() {}");
    await other.put("clash.segment.json", {
      "./shop_a/d": { b_c: { access: "public" } },
      "./shop/a/b_c": { b_c: { access: "public" } },
    });
    const message =
      /error: clash\.segment\.json:\d+:\d+ at .*: shop\/a\/b_c and shop_a\/b_c would be one operation of the OpenAPI document, 'shop_a_b_c'/;
    await other.put("open.json", { mode: "standalone", url: anyPort, openapi: true });
    await other.put("closed.json", { mode: "standalone", url: anyPort });
    for (const words of [
      ["openapi"],
      ["build", "--config", "open.json"],
      ["check", "--config", "open.json"],
    ]) {
      const command = other.seamline(words);
      expect(await command.ended(), words.join(" ")).toBe(1);
      expect(command.output()).toMatch(message);
    }
    expect(await other.seamline(["build", "--config", "closed.json"]).ended()).toBe(0);
  } finally {
    await other.remove();
  }
});
