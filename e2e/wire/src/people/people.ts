// wire-application.ts replaces this file with test/_wire-classes.ts.
export * from "../../../../test/_wire-classes.ts";
