// Many nodes in one process, without a socket of their own: they link to their gateways as any node does.
// node lab/bench/servers/members.mjs '{"count":250,"gateways":[…],"repository":…,"trustKey":…,"folder":…,"server":…}'

import { setMaxListeners } from "node:events";

const { count, gateways, repository, trustKey, folder, server } = JSON.parse(process.argv[2]);
process.chdir(folder);
setMaxListeners(0);
const { createHandler } = await import(server);

const began = performance.now();
for (let at = 0; at < count; at++)
  await createHandler((file) => import(file), {
    config: {
      mode: "node",
      // No client connects to it: calls come down the links.
      url: "http://127.0.0.1:1",
      gateway: gateways.length === 1 ? gateways[0] : gateways,
      repository,
      segments: ["app"],
      trustKey,
      log: "error",
    },
  });
process.send({ ms: performance.now() - began });
process.on("disconnect", () => process.exit());
