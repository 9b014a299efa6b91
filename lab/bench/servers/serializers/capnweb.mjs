import { deserialize, serialize } from "capnweb";

export const serializer = (name) =>
  name === "instances" ? "it sends no instances of classes by value" : [serialize, deserialize];
