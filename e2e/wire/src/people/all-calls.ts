// wire-application.ts replaces this file with test/_all-calls.ts.
export * from "../../../../test/_all-calls.ts";
