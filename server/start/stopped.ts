// Apart from ensure-build.ts, as roles without an application load no build.

/** The process was told to stop while it was building: nothing failed, and nothing starts. */
export class Stopped extends Error {
  override readonly name: string = "Stopped";
}
