// The shared part of the benches' callers: they call as often as they can for some seconds, when the
// bench says so.

/**
 * @param {(a: number, b: number) => Promise<number>} add calls the other process
 */
export function drive(add) {
  process.on("message", async ({ seconds, callers }) => {
    try {
      process.send({ calls: await callsFor(add, seconds, callers) });
    } catch (error) {
      process.send({ problem: String(error) });
    }
  });
  process.send({});
}

async function callsFor(add, seconds, callers) {
  let calls = 0;
  const end = performance.now() + seconds * 1_000;
  const caller = async () => {
    do {
      if ((await add(calls, 1)) === undefined) throw new Error("no answer");
      calls++;
    } while (performance.now() < end);
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return calls;
}
