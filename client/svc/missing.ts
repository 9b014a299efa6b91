// What /svc/missing.js is: what to say of a module that browsers can't get. Few pages ever ask, so it is no part of /svc/remote.js.

export { noSuchModule } from "../no-such-module.ts";
