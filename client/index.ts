// `seamline/client`: the page's additions to `seamline`. At run time both are /svc/client.js.

export { startClient } from "./client.ts";
export type {
  Client,
  ClientOptions,
  Outdated,
  OutdatedEvent,
  PageHeaders,
  StartClient,
} from "../src/types/client.ts";
export type { Imported, Modules } from "../src/types/imported.ts";
export type { ObservedCall } from "../src/types/outgoing-call.ts";
