// `npm run soak -- --calls 1000000`: calls through a gateway to a node, real processes, one in two
// hundred failing and as many left by their callers. Prints heap after collection, memory and
// handles of both after each tenth, and fails if the heap gained 5 % or handles became more.
import { runMain } from "../scripts/typescript.mjs";

await runMain("lab/fuzz/soak.ts");
