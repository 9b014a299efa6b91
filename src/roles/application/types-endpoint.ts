// A procedure's parameter types, as its node checks them: for the form of a console.

import { answerHeaders, mediaTypes, typesPath } from "../../base/protocol.ts";
import { readVersion } from "../../base/version.ts";
import { notFound } from "../../http/answers.ts";
import { queryOf, type Route } from "../../http/router.ts";
import type { ServerNode } from "./load-node.ts";

type CheckingNode = Pick<ServerNode, "registry" | "checks">;

/** `undefined` if the node doesn't have the procedure, or doesn't check its callers. */
export async function describeTypes(
  { registry, checks }: CheckingNode,
  fqn: string,
  version: string,
): Promise<object | undefined> {
  const procedure = registry.find(fqn, version);
  return procedure && (await checks.describe(procedure));
}

/** Answers `null` if there is nothing to describe. */
export function typesEndpoint(node: CheckingNode): Route {
  return [
    "GET",
    `${typesPath}*name`,
    async ({ target }, { holdsKey }, { name }) => {
      // Don't tell others which names there are.
      if (!holdsKey) return notFound();
      const fqn = [name ?? ""].flat().join("/");
      const types = await describeTypes(node, fqn, readVersion(queryOf(target)).toString());
      return {
        status: 200,
        headers: { "content-type": mediaTypes.json, ...answerHeaders },
        body: JSON.stringify(types ?? null),
      };
    },
  ];
}
