// With `--host`, other machines can reach the development server. They may look, but not change
// anything.

import type { ViteDevServer } from "vite";

import { consolePath } from "../../src/base/protocol.ts";

const loopback = /^(?:::1|(?:::ffff:)?127(?:\.\d+){3})$/;

/** Answers 404 when another machine requests the console's controls. */
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
