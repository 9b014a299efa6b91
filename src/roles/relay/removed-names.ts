// Whether the deployed build has a procedure that no member has now: if so, the procedure is away; otherwise a
// deploy has removed it. A gateway has no build, so it asks the node that joined last.

import { bounded } from "../../base/aborts.ts";
import { isCallable } from "../../base/access.ts";
import { entryOf, type ServerManifest } from "../../base/manifest.ts";
import type { Host } from "../../base/ports.ts";
import { anyUpstream, answerHeaders, knownNamePath, mediaTypes } from "../../base/protocol.ts";
import { collected } from "../../http/bodies.ts";
import type { Route } from "../../http/router.ts";
import type { ServerModules } from "../application/application.ts";
import { notFound } from "../../http/answers.ts";
import type { Member, Members } from "../members/members.ts";
import { answerMs } from "../common/times.ts";
import { mostAnswers } from "../common/limits.ts";

/** Answers `true` or `false` to services. */
export function knownNameEndpoint(modules: Pick<ServerModules, "manifest">): Route {
  return [
    "GET",
    `${knownNamePath}*name`,
    async (_, { holdsKey }, { name }) => {
      // Don't tell others which names there are.
      if (!holdsKey) return notFound();
      const fqn = [name ?? ""].flat().join("/");
      return {
        status: 200,
        headers: { "content-type": mediaTypes.json, ...answerHeaders },
        body: String(hasForServices(await modules.manifest(), fqn)),
      };
    },
  ];
}

/** Whether a segment that servers load makes any version of it callable. */
function hasForServices(
  { procedures, segments, browserSegments }: ServerManifest,
  fqn: string,
): boolean {
  return Object.keys(segments).some(
    (segment) =>
      !browserSegments.includes(segment) &&
      entryOf(segments, segment)?.some(
        ({ procedure, access }) => isCallable(access) && procedures[procedure]?.fqn === fqn,
      ),
  );
}

/** Whether the newest member's build has a procedure. Also `true` if there is no answer. */
export function createDeployedNames(
  host: Pick<Host, "clock">,
  members: Pick<Members, "all" | "builds">,
): (fqn: string) => Promise<boolean> {
  let asked: Member | undefined;
  const answers = new Map<string, Promise<boolean>>();

  const ask = async (fqn: string, { url, via }: Member): Promise<boolean> => {
    const late = (): Error => new Error(`${url} didn't answer in ${answerMs.name / 1_000} s`);
    const path = knownNamePath + fqn.split("/").map(encodeURIComponent).join("/");
    const { status, body } = await bounded(undefined, host.clock, answerMs.name, late, (signal) =>
      collected(
        via.send({
          url: anyUpstream + path,
          method: "GET",
          headers: {},
          from: "key",
          signal,
          control: true,
        }),
      ),
    );
    return status !== 200 || new TextDecoder().decode(body) !== "false";
  };

  return async (fqn) => {
    // Nothing was deployed since.
    if (members.builds < 2) return true;
    const newest = members
      .all()
      .reduce<Member | undefined>(
        (found, member) => (found === undefined || member.order > found.order ? member : found),
        undefined,
      );
    if (newest === undefined) return true;
    if (newest !== asked || answers.size >= mostAnswers) answers.clear();
    asked = newest;
    let answer = answers.get(fqn);
    if (answer === undefined) {
      answer = ask(fqn, newest).catch(() => {
        // The call is answered as if the procedure were away. The next one asks again.
        answers.delete(fqn);
        return true;
      });
      answers.set(fqn, answer);
    }
    return await answer;
  };
}
