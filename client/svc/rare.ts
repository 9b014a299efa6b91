// What /svc/rare.js is: what few pages ever ask for, so it is no part of /svc/remote.js.

export { noSuchModule } from "../no-such-module.ts";
export { bindArguments } from "../../src/parameters.ts";
