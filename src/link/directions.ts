// Which roles may dial which, and which requests go which way: calls by a service's procedures (`service`), calls
// passed on for callers outside (`outside`), some of whom have shown the key (`trusted`), and the service's own
// requests (`key`), each by method and path.
// Any other request ends the link: an attacker who controls a repository or a proxy gets no further over the
// links that others have dialled to it. A release whose services ask for more needs a new protocol version.

import type { CallFrom } from "../base/ports.ts";
import {
  browserManifestPath,
  callsPath,
  consolePath,
  consoleTypesPath,
  gatewaysPath,
  knownNamePath,
  listsPath,
  paths,
  routesPath,
  typesPath,
} from "../base/protocol.ts";
import { pathOf } from "../http/router.ts";

/** The requests that one end of a link sends. */
interface Sends {
  /** Methods and paths of its own requests. A path that ends in `/` stands for all below it. */
  readonly own: readonly string[];
  /** The senders whose calls it passes on. */
  readonly calls: readonly CallFrom[];
}

interface Direction {
  readonly fromDialer: Sends;
  readonly fromAcceptor: Sends;
}

const none: Sends = { own: [], calls: [] };

const nodeToGateway: Direction = {
  fromDialer: {
    own: [
      `POST ${paths.nodes}`,
      `DELETE ${paths.nodes}`,
      `PUT ${listsPath}/`,
      // For the console of another gateway.
      `GET ${paths.nodes}`,
    ],
    calls: ["service"],
  },
  fromAcceptor: {
    own: [
      `GET ${paths.healthStatus}`,
      `GET ${knownNamePath}`,
      // For its console.
      `GET ${paths.health}`,
      `GET ${callsPath}`,
      `GET ${gatewaysPath}`,
      `GET ${typesPath}`,
    ],
    calls: ["service", "trusted", "outside"],
  },
};
const proxyToCalls: Direction = {
  fromDialer: {
    own: [
      `GET ${routesPath}`,
      // For the console of the proxy.
      `GET ${consolePath}/state`,
      `GET ${consoleTypesPath}`,
      `GET ${typesPath}`,
    ],
    // It has no procedures, so it can't spare a call the guards.
    calls: ["trusted", "outside"],
  },
  fromAcceptor: { own: [`PUT ${routesPath}`], calls: [] },
};
const modules: Sends = {
  own: [`GET ${paths.modules}`, `HEAD ${browserManifestPath}`],
  calls: [],
};
const toModules: Direction = { fromDialer: modules, fromAcceptor: none };
const proxyToFiles: Direction = {
  fromDialer: { own: modules.own, calls: ["outside"] },
  fromAcceptor: none,
};
/** A proxy both calls a standalone and uses it as its repository. */
const proxyToStandalone: Direction = {
  ...proxyToCalls,
  fromDialer: {
    own: [...proxyToCalls.fromDialer.own, ...modules.own],
    calls: proxyToCalls.fromDialer.calls,
  },
};

/** By the role that is dialled, then by the role that dials. */
const directions: Readonly<Record<string, Readonly<Record<string, Direction>>>> = {
  gateway: { node: nodeToGateway, proxy: proxyToCalls },
  node: { proxy: proxyToCalls },
  standalone: { proxy: proxyToStandalone, node: toModules, gateway: toModules },
  repository: { proxy: proxyToFiles, node: toModules, gateway: toModules },
  proxy: {},
};

/** The roles that may dial a service. */
export const dialersOf = (role: string): readonly string[] => Object.keys(directions[role] ?? {});

/** Whether one end of a link takes a request from the other. */
export type Takes = (from: CallFrom, method: string, target: string) => boolean;

/** Returns which requests an end with this role takes from the `other` role. */
export function takenFrom(
  own: { readonly role: string; readonly isDialer: boolean },
  other: string,
): Takes {
  const [acceptor, dialer] = own.isDialer ? [other, own.role] : [own.role, other];
  const direction = directions[acceptor]?.[dialer];
  const sends = (own.isDialer ? direction?.fromAcceptor : direction?.fromDialer) ?? none;
  return (from, method, target) => {
    if (from !== "key") return sends.calls.includes(from);
    const request = `${method} ${pathOf(target)}`;
    return sends.own.some((named) =>
      named.endsWith("/") ? request.startsWith(named) : request === named,
    );
  };
}
