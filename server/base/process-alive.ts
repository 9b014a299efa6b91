// Whether a process of this machine exists.

/**
 * Processes of other users count as well. A number that a new process has got can't be told from the old process.
 */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it exists, and belongs to another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
