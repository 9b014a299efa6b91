// /svc/client.js: the only runtime of a page, shared by bundled pages, plain pages and application
// modules. The browser's build keeps `seamline`, `seamline/client` and the module graph as imports
// of this URL.

import { createGraph, type Graph } from "../src/runtime/seam.ts";
import { createChecked } from "../src/runtime/checked.ts";
import { browser } from "./browser.ts";
import { loadRare } from "./load-rare.ts";
import type { StartClient } from "../src/types/client.ts";
import type { WithOptions } from "../src/types/call-options.ts";
import type { RunProcedure } from "../src/types/imported.ts";
import type { Checked } from "../src/types/standard-schema.ts";
import { createStartClient } from "./start-client.ts";

const graph: Graph = createGraph();

/**
 * Makes the page a node that runs the procedures of the named segments; its origin routes calls of
 * all others.
 */
export const startClient: StartClient = createStartClient(graph, browser);

/** Calls a procedure by name: in this page if it runs here, otherwise remotely. */
export const runProcedure: RunProcedure = graph.runProcedure as RunProcedure;

/** Returns a procedure with a signal, headers or a time limit for each of its calls. */
export const withOptions: WithOptions = graph.withOptions;

/** As in servers; the text of its refusal is in /svc/rare.js. */
export const checked: Checked = createChecked(loadRare);

/** Always throws: browsers can't carry a context across an `await`. */
export { noContext as getContext } from "../src/base/context.ts";

/** Returns `item`: only servers send streams. */
export const withId = <Item>(_id: string, item: Item): Item => item;

// For the generated faces and bodies of the application's modules.
/** @internal */
export const seam: Graph["seam"] = graph.seam;
/** @internal */
export const context: Graph["context"] = graph.context;

// One class for all files of a page.
/** @internal */
export { TransportError } from "../src/base/ports.ts";

export {
  BadGateway,
  BadRequest,
  DeadlineExceeded,
  FileNotFound,
  Forbidden,
  InvalidParameterValue,
  InvalidSerializedValue,
  InvalidVersionNumber,
  LoopDetected,
  MethodNotAllowed,
  MiddlewareNotCompleted,
  MisdirectedRequest,
  MissingParameterValue,
  NodeNotAvailable,
  NotAcceptable,
  NotFound,
  NotImplemented,
  PayloadTooLarge,
  PaymentRequired,
  ProcedureNotFound,
  RequestHeaderFieldsTooLarge,
  RequestTimeout,
  SegmentNotFound,
  ServiceError,
  statusOf,
  Teapot,
  TooManyStreams,
  Unauthorized,
  UnknownParameter,
  UnsupportedEncoding,
  ValueNotSerializable,
} from "../src/base/errors.ts";
export { begun, traced, traceOf } from "../src/base/trace.ts";
export { parseVersion } from "../src/base/version.ts";

/**
 * For modules that servers run, too: in production nothing moves away from a page, and its end has no
 * time for callbacks. Development binds modules to another (client/development/bodies.ts). Any
 * function that ignores its argument will do, and this file has no byte left.
 */
export { emptyContext as onStop } from "../src/base/context.ts";

// Shared with /svc/remote.js.
export { Context, emptyContext, isContext } from "../src/base/context.ts";
export { snapshot } from "../src/codec/values/snapshot.ts";
export { frameworkErrors } from "../src/base/errors.ts";
export { errorOf, ranOn, setRanOn, setTrace } from "../src/base/trace.ts";
