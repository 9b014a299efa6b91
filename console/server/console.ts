// The console of a service: an observer of its role, with endpoints that show the observed calls and state.

import type { CreateConsole } from "../../server/console/console-port.ts";
import type { Host, HttpRequest, HttpResponse } from "../../src/base/ports.ts";
import { consolePath } from "../../src/base/protocol.ts";
import type { ObservedRole, Subject } from "../../src/roles/pipeline/observer.ts";
import { createCredentials } from "../../src/http/trust.ts";
import { createEndpoints } from "./endpoints.ts";
import { gatewaySource } from "./sources/gateway-source.ts";
import { Overview } from "./overview.ts";
import { proxySource } from "./sources/proxy-source.ts";
import { createSessions } from "./access/sessions.ts";
import type { Source } from "./sources/source.ts";
import { standaloneSource } from "./sources/standalone-source.ts";
import { View } from "./view.ts";
import { Viewers } from "./viewers.ts";

export const createConsole: CreateConsole = (host, options) => {
  const { clock } = host;
  const credentials = createCredentials(options.trustKey, host);
  const sessions = createSessions(clock, host.equalSecrets);
  let url = "";
  let shown: ReturnType<typeof show> | undefined;

  const show = ({ subject, health, rpc, calls }: ObservedRole) => {
    const { controls } = options;
    const source = sourceOf(host, subject);
    const viewers = new Viewers({
      clock,
      trust: credentials.of,
      masks: options.masks,
      begin: (watch) => source.watch((call, member) => watch.local(call, member)),
    });
    const overview = new Overview({ clock, source, health, calls, url: () => url, controls });
    const view = new View(clock, overview, viewers);
    const call = async (request: HttpRequest): Promise<HttpResponse> =>
      await (viewers.watch === undefined
        ? rpc(request)
        : viewers.watch.call(request, rpc, "console"));
    const handle = createEndpoints({
      options,
      sessions,
      view,
      viewers,
      types: (fqn, version) => source.types(fqn, version),
      call,
    });
    return { viewers, view, handle };
  };

  return {
    get calls() {
      return shown?.viewers.watch;
    },
    attach(role) {
      shown = show(role);
    },
    started(address) {
      url = address;
    },
    stopped() {
      shown?.view.stop();
      shown?.viewers.end();
    },
    handle: async (request, trust) =>
      shown?.view.stopped === false ? shown.handle(request, trust) : undefined,
    link: (base = url) => `${reachable(base)}${consolePath}#token=${sessions.token()}`,
  };
};

function sourceOf(host: Host, subject: Subject): Source {
  switch (subject.mode) {
    case "gateway":
      return gatewaySource(host, subject);
    case "proxy":
      return proxySource(host, subject);
    case "standalone":
      return standaloneSource(subject);
  }
}

/** A service may listen on `0.0.0.0`, which browsers can't open. */
function reachable(base: string): string {
  return base
    .replace(/^(https?:\/\/)0\.0\.0\.0(?=[:/]|$)/, "$1127.0.0.1")
    .replace(/^(https?:\/\/)\[::\](?=[:/]|$)/, "$1[::1]");
}
