// The very classes of the other tests; application.ts puts their text in the place of this file.
export * from "../../../../test/_wire-classes.ts";
