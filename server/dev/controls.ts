// The console's actions in development: kill and start nodes, move procedures.

import type { ViteDevServer } from "vite";

import { BadRequest } from "../../src/base/errors.ts";
import type { ServerManifest } from "../../src/base/manifest.ts";
import { consolePath } from "../../src/base/protocol.ts";
import { formatProblem, type Problem } from "../../src/base/problem.ts";
import { proceduresIn } from "../../src/roles/members/manifest-procedures.ts";
import type { MemberProcedure } from "../../src/roles/members/member-details.ts";
import type { Application } from "../compile/cut/application.ts";
import type { Controls } from "../console/console-port.ts";
import { moveProcedure } from "./move.ts";
import type { DevNode } from "./session.ts";

/** The parts of a session that are controlled. */
export interface ControlledSession {
  nodes(): readonly DevNode[];
  kill(node: string): Promise<void>;
  start(node: string): Promise<void>;
  /** The last application without problems. */
  application(): Promise<Application>;
  readonly manifest: ServerManifest | undefined;
  readonly problems: readonly Problem[];
}

export function createControls(session: ControlledSession): Controls {
  let listed: { of: ServerManifest; procedures: readonly MemberProcedure[] } | undefined;
  let lastMove: Promise<unknown> = Promise.resolve();

  const checkNode = (name: string): void => {
    const names = session.nodes().map((node) => node.name);
    if (names.includes(name)) return;
    throw new BadRequest(`There is no node '${name}'; there is ${names.join(", ") || "none"}`);
  };

  return {
    state: () => ({
      nodes: session.nodes().map(({ name, segments, state }) => ({ name, segments, state })),
      browserSegments: session.manifest?.browserSegments ?? [],
      problems: session.problems.map((problem) => formatProblem(problem).split("\n")[0] ?? ""),
    }),
    procedures() {
      const { manifest } = session;
      if (manifest === undefined) return [];
      if (listed?.of !== manifest) listed = { of: manifest, procedures: proceduresIn(manifest) };
      return listed.procedures;
    },
    async kill(node) {
      checkNode(node);
      await session.kill(node);
    },
    async start(node) {
      checkNode(node);
      await session.start(node);
    },
    async move(fqn, segment) {
      // One after the other: each reads files that the one before may have to write.
      const move = lastMove.then(
        async () => await moveProcedure(await session.application(), fqn, segment),
      );
      lastMove = move.catch(() => {});
      await move;
    },
  };
}

const loopback = /^(?:::1|(?:::ffff:)?127(?:\.\d+){3})$/;

/**
 * Answers 404 when another machine requests the console's controls. With `--host`, other machines can
 * reach the development server: they may look, but not change anything.
 */
export function refuseControlsToOthers({ middlewares }: ViteDevServer): void {
  middlewares.use((message, response, next) => {
    if (
      !message.url?.startsWith(`${consolePath}/development/`) ||
      loopback.test(message.socket.remoteAddress ?? "")
    )
      return next();
    response.statusCode = 404;
    response.end("Not found");
  });
}
