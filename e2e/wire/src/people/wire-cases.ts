// wire-application.ts replaces this file with test/_wire-cases.ts.
export * from "../../../../test/_wire-cases.ts";
