// Runs a procedure of this page that is called by name. Part of /svc/rare.js.

import { type CallParts, createRun } from "../../src/runtime/calls.ts";
import { inherited } from "../../src/runtime/inherited.ts";
import { bindArguments } from "../../src/runtime/parameters.ts";

const run = createRun();

export const runLocal: CallParts["runLocal"] = async (procedure, args, context) =>
  await run(procedure, inherited(context), bindArguments(procedure.record.parameters)(args));
