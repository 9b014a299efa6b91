import { startClient } from "seamline/client";
import { checks } from "./checks/checks.ts";
import * as local from "./local/local.ts";
import * as wire from "./wire/wire.ts";

// Bundled imports are seams, so nothing here names a path or a procedure.
const client = await startClient("ui");
const places = new Set<string>();
client.observe(({ fqn, where, node }) => places.add(`${fqn} ${where} ${node ?? ""}`));
Object.assign(globalThis, { checks: checks(wire), local, places });
document.body.dataset["started"] = "true";
