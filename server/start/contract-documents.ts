// The contract of a build, as a repository or standalone tells it to others.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { HttpRequest, HttpResponse } from "../../src/base/ports.ts";
import { Problems } from "../../src/base/problem.ts";
import { answerHeaders, mediaTypes } from "../../src/base/protocol.ts";
import { hasTag } from "../../src/http/entity-tags.ts";
import type { RepositoryFiles } from "../../src/roles/repository.ts";
import type { ApplicationConfig } from "../config/config.ts";
import { type Contract, parseContract } from "../contract/contract.ts";
import { openApiOf } from "../contract/openapi.ts";
import { publicContract } from "../contract/public-contract.ts";
import { manifestFiles } from "../files/sources.ts";
import { tokenRefusal } from "../http/host.ts";
import type { EnsuredBuild } from "./ensure-build.ts";

type Openapi = NonNullable<ApplicationConfig["openapi"]>;

/** Adds the documents to a repository's files. */
export async function withContract(
  files: RepositoryFiles,
  openapi: Openapi,
  { output, built }: EnsuredBuild,
): Promise<RepositoryFiles> {
  const file = join(output.server, manifestFiles.contract);
  const text = await readFile(file, "utf8").catch(() => {
    throw new Problems([
      { file, message: "the build has no contract to serve", hint: "Run 'seamline build' again" },
    ]);
  });
  const document = contractDocuments(parseContract(text, file), openapi, built.manifest.base);
  return {
    ...files,
    component: async (name, request) =>
      document(name, request) ?? (await files.component(name, request)),
  };
}

const openapiFile = "openapi.json";

/** Names below `/svc/`. */
export const contractNames: ReadonlySet<string> = new Set([openapiFile, manifestFiles.contract]);

/** Answers requests for {@link contractNames}, and no others. */
export function contractDocuments(
  whole: Contract,
  openapi: Openapi,
  base?: string,
): (name: string, request: HttpRequest) => HttpResponse | undefined {
  const contract = publicContract(whole);
  const token = openapi === true ? undefined : openapi.token;
  const documents = new Map([
    [openapiFile, answerOf(openApiOf(contract, base).document)],
    [manifestFiles.contract, answerOf(contract)],
  ]);
  return (name, request) => documents.get(name)?.(request, token);
}

function answerOf(document: object): (request: HttpRequest, token?: string) => HttpResponse {
  const body = JSON.stringify(document);
  const etag = `"${createHash("sha256").update(body).digest("base64url")}"`;
  const headers = {
    ...answerHeaders,
    "content-type": mediaTypes.json,
    etag,
    "cache-control": "no-cache",
  };
  return (request, token) => {
    const { headers: fields } = request;
    const refused = token === undefined ? undefined : tokenRefusal(fields, token, "This needs");
    if (refused !== undefined) return refused;
    return hasTag(fields, etag)
      ? { status: 304, headers, body: "" }
      : { status: 200, headers, body };
  };
}
