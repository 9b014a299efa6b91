import { existsSync } from "node:fs";

/** A build can do without the console's folder. */
export const hasConsole: boolean = existsSync(new URL("../console", import.meta.url));
