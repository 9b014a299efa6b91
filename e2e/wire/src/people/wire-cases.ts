// The very table of the other tests; application.ts puts its text in the place of this file.
export * from "../../../../test/_wire-cases.ts";
