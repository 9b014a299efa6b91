// Values as they were at the time of a page's call, which waits for the rest of the runtime.

import { expect, it } from "vitest";

import { snapshot } from "../../../src/codec/values/snapshot.ts";

class Base {
  get shown(): string[] {
    return ["base"];
  }
}
class Cart extends Base {
  #owner = "ada";
  items = ["tweed"];
  get owner(): string {
    return this.#owner;
  }
  set owner(owner: string) {
    this.#owner = owner;
  }
  override get shown(): string[] {
    return [this.#owner];
  }
}

/** One item and two holes. */
function holey(): unknown[] {
  const list: unknown[] = [1];
  list.length = 3;
  return list;
}

it("has what lists, objects, maps, sets, dates and bytes had", () => {
  const value = {
    list: [1, { a: 1 }],
    holes: holey(),
    map: new Map([["a", new Set([1])]]),
    date: new Date(1),
    bytes: new Uint8Array([1, 2]),
    url: new URL("http://a.example/"),
  };
  const copy = snapshot(value);
  value.list.length = 0;
  value.holes.length = 0;
  value.map.get("a")?.add(2);
  value.date.setTime(2);
  value.bytes[0] = 9;
  value.url.pathname = "/b";
  expect(copy).toEqual({
    list: [1, { a: 1 }],
    holes: holey(),
    map: new Map([["a", new Set([1])]]),
    date: new Date(1),
    bytes: new Uint8Array([1, 2]),
    url: new URL("http://a.example/"),
  });
  expect(copy.holes).toHaveLength(3);
  expect(Object.keys(copy.holes)).toEqual(["0"]);
});

it("has the class of an instance, and what its getters returned", () => {
  const cart = new Cart();
  const copy = snapshot(cart);
  cart.owner = "bob";
  cart.items.push("linen");
  expect(copy).toBeInstanceOf(Cart);
  expect([copy.owner, copy.shown, copy.items]).toEqual(["ada", ["ada"], ["tweed"]]);
  expect(Object.keys(copy)).toEqual(["items"]);
});

it("keeps cycles and shared references", () => {
  const shared = { a: 1 };
  const value: { shared: object[]; self?: object } = { shared: [shared, shared] };
  value.self = value;
  const copy = snapshot(value);
  expect(copy.self).toBe(copy);
  expect(copy.shared[0]).toBe(copy.shared[1]);
  expect(copy.shared[0]).not.toBe(shared);
});

it("has the entries of a FormData and of Headers", () => {
  const form = new FormData();
  form.append("a", "1");
  form.append("a", "2");
  const headers = new Headers({ "x-a": "1" });
  const [taken, fields] = snapshot([form, headers] as const);
  form.delete("a");
  headers.set("x-a", "2");
  expect([...taken]).toEqual([
    ["a", "1"],
    ["a", "2"],
  ]);
  expect([...fields]).toEqual([["x-a", "1"]]);
});

it("is the value itself if it can't be copied, so that the encoder says why it can't be sent", () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const act = (): void => {};
  const symbol = Symbol("a");
  expect(snapshot(act)).toBe(act);
  expect(snapshot(symbol)).toBe(symbol);
  expect(snapshot([proxy])[0]).toBe(proxy);
});

it("has what a proxy showed before it was revoked", () => {
  const { proxy, revoke } = Proxy.revocable(["tweed"], {});
  const copy = snapshot(proxy);
  revoke();
  expect(copy).toEqual(["tweed"]);
});
