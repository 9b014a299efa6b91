// The module of the graph, in builds and in development.

import { runtimeId } from "../dev/ids.ts";

// Bodies, faces and the application's own imports of `seamline` meet here: one node for one graph of modules, never a global.
export const graphCode: string = `export * from "seamline";
import { createGraph } from "seamline";
const graph = createGraph();
export const { seam, traced, context, runProcedure, bind } = graph;
`;

// A procedure whose parameters have changed has the same seam as before; it is pointed anew after every change.
export const liveGraphCode: string = graphCode
  .replaceAll('"seamline"', JSON.stringify(runtimeId))
  .replace("seam, traced, ", "").concat(`import { $tidy } from ${JSON.stringify(runtimeId)};
export const seam = (record) => Object.assign(graph.seam(record), { parameters: record.parameters });
export const traced = (thrown, line) => $tidy(graph.traced(thrown, line));
`);
