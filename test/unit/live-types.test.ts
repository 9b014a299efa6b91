// Types of parameters that are read while calls come.

import { describe, expect, it, vi } from "vitest";

import { faultText } from "../../src/base/faults.ts";
import { LiveTypes } from "../../server/local/live-types.ts";
import type { Type, TypeModel } from "../../server/types/model.ts";
import type { TypesReading } from "../../server/types/reading.ts";

const id = "shop/order#order";

function reading(type: Type, problems: TypesReading["problems"] = []): TypesReading {
  const parameters = [{ kind: "plain", name: "metres", type }] as const;
  const model: TypeModel = {
    functions: problems.length > 0 ? {} : { [id]: [{ parameters }] },
    classes: {},
    definitions: {},
  };
  return { model, problems, notes: [], unchecked: {} };
}

const number = reading({ kind: "number" });
const text = reading({ kind: "string" });

function withResolvers(): {
  readonly promise: Promise<TypesReading>;
  readonly resolve: (found: TypesReading) => void;
} {
  let resolve!: (found: TypesReading) => void;
  return { promise: new Promise<TypesReading>((done) => (resolve = done)), resolve };
}

/** The answer to a call with this argument: `undefined` if nothing checks it. */
async function outcome(types: LiveTypes, value: unknown): Promise<unknown> {
  await types.ready(id);
  const checked = types.of(id)?.check([value], {
    source: "json",
    extra: "drop",
    masked: false,
    maxDigits: 100,
    isTree: true,
    isInstance: () => false,
  });
  if (checked === undefined || checked === null) return undefined;
  if (!("refusal" in checked)) return checked.positions[0];
  return faultText(checked.refusal.faults, checked.refusal.more);
}

describe("types that are read while calls come", () => {
  it("are read when the first call comes, and once", async () => {
    const read = vi.fn<() => Promise<TypesReading>>().mockResolvedValue(number);
    const types = new LiveTypes(read);
    expect(read).not.toHaveBeenCalled();
    expect(await Promise.all([outcome(types, 1), outcome(types, "1")])).toEqual([
      1,
      "metres: expected number, got text",
    ]);
    expect(types.ready(id)).toBeUndefined();
    expect(read).toHaveBeenCalledTimes(1);
  });

  it("make a call wait for the last reading, whichever ends first", async () => {
    const types = new LiveTypes(async () => undefined);
    const first = withResolvers();
    const second = withResolvers();
    const firstRead = types.read(async () => await first.promise);
    const call = outcome(types, "long");
    const secondRead = types.read(async () => await second.promise);
    first.resolve(number);
    await firstRead;
    second.resolve(text);
    expect(await secondRead).toBe(text);
    expect(await call).toBe("long");
  });

  it("aren't waited for longer than that, and then the call isn't checked, which is said", async () => {
    const onLate = vi.fn<(late: string) => void>();
    const types = new LiveTypes(async () => undefined, { waitMs: 20, onLate });
    const late = withResolvers();
    const read = types.read(async () => await late.promise);
    expect(await outcome(types, "long")).toBeUndefined();
    expect(onLate.mock.calls).toEqual([[id]]);
    late.resolve(number);
    await read;
    expect(await outcome(types, "long")).toContain("expected number");
    expect(onLate).toHaveBeenCalledTimes(1);
  });

  it("are waited for as long as it takes by what isn't a call, such as a form that lists them", async () => {
    const onLate = vi.fn<(late: string) => void>();
    const types = new LiveTypes(async () => undefined, { waitMs: 1, onLate });
    const late = withResolvers();
    const read = types.read(async () => await late.promise);
    const form = types.whole().then(() => types.of(id)?.describe());
    await outcome(types, "long");
    expect(onLate).toHaveBeenCalledTimes(1);
    late.resolve(number);
    await read;
    expect(await form).toEqual({
      names: [{ name: "metres", type: { kind: "number" } }],
      definitions: {},
    });
    const unreadable = new LiveTypes(async () => undefined);
    await unreadable.whole();
    expect(unreadable.of(id)?.describe()).toBeUndefined();
  });

  it("that can't be read refuse the call and say why", async () => {
    const types = new LiveTypes(async () => undefined);
    const problem = {
      file: "src/shop/order.ts",
      message: "metres: its type can't be resolved",
      hint: "Import it",
    };
    await types.read(async () => reading({ kind: "never" }, [problem]));
    expect(await outcome(types, 1)).toContain(
      "src/shop/order.ts: metres: its type can't be resolved",
    );
    await expect(
      types.read(async () => await Promise.reject(new Error("no thread"))),
    ).rejects.toThrow("no thread");
    expect(await outcome(types, 1)).toContain("no thread");
    await types.read(async () => number);
    expect(await outcome(types, 1)).toBe(1);
  });
});
