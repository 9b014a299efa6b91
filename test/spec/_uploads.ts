// proxy → gateway → two nodes, with procedures that send and take files.

import type { Role } from "../../src/roles/pipeline/role.ts";
import type { Limits } from "../../src/base/limits.ts";
import { ask, TestDeployment, testModules, type TestProcedure } from "../_cluster.ts";
import { body, call, names } from "./_shop.ts";

/** The arguments of a procedure as JSON: files with all of their properties. */
export async function describeValue(value: unknown): Promise<unknown> {
  if (value instanceof Blob)
    return {
      is: value instanceof File ? "File" : "Blob",
      type: value.type,
      text: await value.text(),
      ...(value instanceof File && { name: value.name, lastModified: value.lastModified }),
    };
  if (value instanceof FormData)
    return { is: "FormData", entries: await describeValue([...value]) };
  if (value instanceof Map) return { is: "Map", entries: await describeValue([...value]) };
  if (value instanceof Date) return { is: "Date", value: value.toISOString() };
  if (value instanceof Crate) return { is: "Crate", content: await describeValue(value.content) };
  if (Array.isArray(value)) return await Promise.all(value.map(describeValue));
  if (typeof value !== "object" || value === null)
    return typeof value === "bigint" ? `${value}n` : value;
  const members = await Promise.all(
    Object.entries(value).map(async ([key, member]) => [key, await describeValue(member)] as const),
  );
  return Object.fromEntries(members);
}

/** A class whose instances hold a file. */
export class Crate {
  readonly content: unknown;
  constructor(content: unknown) {
    this.content = content;
  }
}

const crate = {
  record: { key: "u/Crate", module: "u/crate", export: "Crate", args: ["content"], fields: [] },
  constructor: Crate,
};

export interface Uploads {
  readonly cluster: TestDeployment;
  readonly proxy: Role;
  readonly gateway: Role;
  readonly standalone: Role;
  /** Calls `u/show` on the second node from the first one, with these arguments. */
  send(...args: readonly unknown[]): Promise<unknown>;
  /** The arguments of the last call. */
  readonly got: unknown[];
}

const typed = [
  { kind: "plain", name: "file", optional: true },
  { kind: "plain", name: "count", optional: true, type: "number" },
  { kind: "plain", name: "born", optional: true, type: "Date" },
  { kind: "plain", name: "tags", optional: true, type: "string[]" },
  { kind: "plain", name: "note", optional: true },
  { kind: "rest", name: "more" },
] as const;

export async function deployUploads(
  options: { readonly limits?: Limits; readonly modules?: true } = {},
): Promise<Uploads> {
  const got: unknown[] = [];
  let toSend: readonly unknown[] = [];
  const take =
    () =>
    async (...args: unknown[]): Promise<unknown> =>
      await describeValue((got.splice(0, got.length, ...args), args));
  const procedures: TestProcedure[] = [
    { fqn: "u/show", parameters: names("first", "second"), in: { b: "public" }, body: take },
    { fqn: "u/form", parameters: typed, in: { b: "public" }, body: take },
    { fqn: "u/safe", in: { b: { access: "public", safe: true } }, body: () => async () => "ran" },
    {
      fqn: "u/send",
      in: { a: "public" },
      body: body("u/send", (_, graph) =>
        call(graph, "u/show", names("first", "second"), ...toSend),
      ),
    },
    { fqn: "u/form-data", in: { b: "public" }, body: () => async () => new FormData() },
    { fqn: "u/file", in: { b: "public" }, body: () => async () => aFile() },
  ];
  const modules = () => testModules(procedures, [crate]);
  const cluster = new TestDeployment(
    options.limits === undefined ? {} : { limits: options.limits },
  );
  const known = options.modules ? { modules: modules() } : {};
  const gateway = await cluster.gateway(known);
  const a = await cluster.node("a", { modules: modules(), segments: ["a"] });
  await cluster.node("b", { modules: modules(), segments: ["b"] });
  const proxy = await cluster.proxy(known);
  const standalone = await cluster.standalone({ modules: modules() });
  return {
    cluster,
    proxy,
    gateway,
    standalone,
    got,
    async send(...args) {
      toSend = args;
      const answer = await ask(a, "POST", "/rpc/u/send", {
        "content-type": "application/json",
      });
      if (answer.status !== 200) throw new Error(answer.text);
      return JSON.parse(answer.text) as unknown;
    },
  };
}

export const aFile = (text = "täxt", name = 'ä "1".txt'): File =>
  new File([text], name, { type: "text/plain", lastModified: 86_400_000 });
export const shownFile = {
  is: "File",
  type: "text/plain",
  text: "täxt",
  name: 'ä "1".txt',
  lastModified: 86_400_000,
};

export const marked = (name: string, more: object): object => ({ serialized: true, name, ...more });
export const encodedForm = {
  "content-type": "multipart/form-data; boundary=b",
  "x-svc-data-encoding": "serialized",
};

/** A multipart body: parts as `[name, content]`, those of files as `[name, content, file name]`. */
export function multipart(
  ...parts: readonly (readonly [string, string | object, string?])[]
): string {
  const written = parts.map(([name, content, fileName]) => {
    const file = fileName === undefined ? "" : `; filename="${fileName}"\r\nContent-Type: text/x`;
    const text = typeof content === "string" ? content : JSON.stringify(content);
    return `--b\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${text}\r\n`;
  });
  return `${written.join("")}--b--\r\n`;
}

export { ask };
