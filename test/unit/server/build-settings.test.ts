import { describe, expect, it } from "vitest";
import { buildKeys, buildSettings } from "../../../server/config/build-settings.ts";
import { parseConfig } from "../../../server/config/config.ts";
import { schemas } from "../../../server/config/config-schema.ts";
import { factsOf, kindsOf, type SchemaNode } from "../../../server/config/schema-key.ts";
import { refuseWrongOptions } from "../../../server/compile/read/plugin-options.ts";

const values = {
  source: "./app",
  index: "page.html",
  browserSegments: ["ui"],
  browserModules: ["shop/**"],
  guards: "required",
  validate: false,
  openapi: { token: "open-sesame-open-sesame" },
  revisions: 3,
} as const;

const config = parseConfig(
  {
    mode: "repository",
    url: "http://127.0.0.1:3000",
    trustKey: "a-secret-of-all-services-of-this-deployment",
    metrics: { token: "hush-hush-hush-hush" },
    output: "./built",
    ...values,
  },
  "seamline.json",
  { root: "/app", env: {} },
);

function holdsSecret(schema: SchemaNode): boolean {
  if (factsOf(schema)?.isSecret === true) return true;
  const below = kindsOf(schema).flatMap(({ entries = {}, item, value }) => [
    ...Object.values(entries),
    ...(item === undefined ? [] : [item]),
    ...(value === undefined ? [] : [value]),
  ]);
  return below.some(holdsSecret);
}

describe("the settings of a build", () => {
  it("each key of a build passes from the configuration to the build", () => {
    if (config.mode !== "repository") throw new Error("the mode has changed");
    expect(Object.keys(values)).toEqual([...buildKeys]);
    expect(buildSettings(config, "/app")).toEqual({
      ...values,
      root: "/app",
      source: "/app/app",
      output: "/app/built",
      openapi: true,
    });
  });

  it("the token of the OpenAPI document is the only secret among them, and the build doesn't get it", () => {
    if (config.mode !== "repository") throw new Error("the mode has changed");
    const { entries } = schemas.repository;
    const secret = buildKeys.filter((key) => holdsSecret(entries[key] as SchemaNode));
    expect(secret).toEqual(["openapi"]);
    expect(JSON.stringify(buildSettings(config, "/app"))).not.toMatch(/sesame|secret|hush/);
  });

  it("the Vite plugin takes each key of a build", () => {
    expect(() => refuseWrongOptions(values)).not.toThrow();
  });
});
