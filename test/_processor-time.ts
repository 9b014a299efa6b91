// Time that doesn't count what else the machine does.

/** Milliseconds of processor time that this process has taken so far. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
