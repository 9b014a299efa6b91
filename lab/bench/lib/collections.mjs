// Reads V8's reports of its garbage collections: how much a call allocates, and how much of that is
// still alive when the nursery is emptied. No profile of CPU time shows either.

/** Makes Node print a line for each collection. */
export const reporting = ["--trace-gc-nvp"];

/**
 * Adds up the reports of processes. `read` gives what came since the last time.
 * @param {(() => string)[]} outputs what the processes have printed so far
 */
export function collections(outputs) {
  const seen = outputs.map(() => 0);
  return {
    read() {
      const sum = { allocated: 0, survived: 0 };
      outputs.forEach((output, at) => {
        const text = output().slice(seen[at]);
        const whole = text.slice(0, text.lastIndexOf("\n") + 1);
        seen[at] += whole.length;
        for (const [, fields] of whole.matchAll(/ gc=s (.*)$/gm)) {
          const field = (name) => Number(new RegExp(`\\b${name}=(\\d+)`).exec(fields)?.[1] ?? 0);
          sum.allocated += field("allocated");
          // The name differs by version.
          sum.survived +=
            field("promoted") + field("new_space_survived") + field("semi_space_copied");
        }
      });
      return sum;
    },
  };
}
