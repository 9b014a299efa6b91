// `npm run fuzz -- --seconds 60 --seed 1 --only "serialized,edge"`: throws bad input at decoders,
// at what reads files, and at services behind real sockets. Prints a line for each input that
// causes a crash, a hang, a fault, a leak of internals or growth, with the options that repeat it.
//
//   --seconds 60     for all targets together
//   --seed 1         of the pseudo-random inputs [another one each time]
//   --only a,b       names of targets
//   --from 7 --count 1   which inputs of each target
//   --list           prints the names of the targets
import { runMain } from "../scripts/typescript.mjs";

await runMain("lab/fuzz/main.ts");
