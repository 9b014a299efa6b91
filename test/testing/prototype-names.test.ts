// Names that every object inherits, in the test kit: see test/_prototype-names.ts.

import { expect, it } from "vitest";

import { createTestCluster } from "../../server/testing/index.ts";
import { createFixture } from "../build/_fixture.ts";
import { names, prototypeNames, through } from "../_prototype-names.ts";

interface Text {
  readonly text: string;
}
type Face = Readonly<Record<string, (text: string, others?: number) => Promise<Text>>>;

it("an application with names such as __proto__ runs in a test cluster with its page, and can be faked", async () => {
  const { root } = createFixture(prototypeNames);
  await using cluster = await createTestCluster({ root, page: ["toString"] });
  expect(cluster.nodes.map((node) => node.name).sort()).toEqual(
    [...names.filter((name) => name !== "toString"), "isPrototypeOf"].sort(),
  );
  const call = async (face: Face, name: string, others?: number) =>
    (await face[name]!("end", others)).text;
  for (const name of names) {
    expect(await call(await cluster.import<Face>(`./${name}`), name, 2)).toBe(through(name, 2));
    expect(await call(await cluster.page.import<Face>(`./${name}`), name, 2)).toBe(
      through(name, 2),
    );
    expect(cluster.calls(name).length).toBeGreaterThan(1);
  }
  for (const name of names) {
    cluster.fake(name as never, (async (text: string) => ({ text: `fake ${text}` })) as never);
    expect(await call(await cluster.import<Face>(`./${name}`), name)).toBe("fake end");
  }
});
