/** The function behind a procedure; its `this` is a context or undefined. */
export type ProcedureFunction = (this: unknown, ...args: never[]) => Promise<unknown>;
