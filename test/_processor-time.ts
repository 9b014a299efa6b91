/**
 * The processor time since `begun`, a value of `process.cpuUsage()`, in ms. Unlike other time, it
 * doesn't grow while the machine is busy with something else.
 */
export function processorTime(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1_000;
}
