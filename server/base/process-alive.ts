// Whether a process of this machine exists.

/**
 * A process of another user counts as well; a number that was given to a new process can't be told
 * from the old one.
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
