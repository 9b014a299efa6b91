// Modules run in development as after a build: virtual modules, imports of every kind, packages and
// syntax.

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { moduleFiles, moduleFixtures } from "./_module-fixtures.ts";
import { type Mode, startMode } from "./_modes.ts";

const suite = { title: "modules", files: moduleFiles, tests: () => {} };

describe.each(["start standalone", "dev"] as const)("in the mode '%s'", (name) => {
  let mode: Mode | undefined;
  beforeAll(async () => void (mode = await startMode(name, [suite])), 60_000);
  afterAll(async () => await mode?.stop());

  it.each(moduleFixtures)("$name: a module gives what is expected", async (fixture) => {
    const path = encodeURIComponent(fixture.folder ?? fixture.name);
    const answer = await mode!.request(`/rpc/f/${path}/answer`);
    const text = await answer.text();
    // Text is sent as it is.
    const isText = answer.status !== 200 || typeof fixture.expected === "string";
    const value: unknown = isText ? text : JSON.parse(text);
    expect([answer.status, value]).toEqual([200, fixture.expected]);
  });
});
