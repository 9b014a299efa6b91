// The very tables of the other tests; application.ts puts their text in the place of this file.
export * from "../../../../test/_ways.ts";
