// `seamline/internal`: for generated code only. Applications shouldn't use it; it may change.

export { begun } from "./base/trace.ts";
export {
  createGraph,
  type Graph,
  type Seam,
  type SeamHost,
  type SeamRecord,
} from "./runtime/seam.ts";
