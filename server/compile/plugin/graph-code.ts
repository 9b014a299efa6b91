// The code of the graph's module, in builds and in development.

import { runtimeId } from "../read/module-ids.ts";

// Bodies, faces and the application's imports of `seamline` share this module: each module graph
// has its own node, never a global.
export const graphCode: string = `export * from "seamline";
import { begun, createGraph } from "seamline/internal";
const graph = createGraph();
export { begun };
export const { seam, traced, context, runProcedure, withOptions, bind } = graph;
`;

/** The same module on a runtime of this process, in development and in tests. */
export const localGraphCode: string = graphCode.replaceAll(
  /"seamline(?:\/internal)?"/g,
  JSON.stringify(runtimeId),
);

// A procedure keeps its seam when its parameters change, or it becomes a stream; the seam gets the new facts.
// The function that faces call warns of options that are passed as a context.
export const liveGraphCode: string = localGraphCode.replace("seam, traced, ", "")
  .concat(`import { $tidy, $warning } from ${JSON.stringify(runtimeId)};
export const seam = (record, stream) => $warning(Object.assign(graph.seam(record, stream), { parameters: record.parameters, stream: record.stream }));
export const traced = (thrown, line, run) => $tidy(graph.traced(thrown, line, run));
`);
