import { deserialize, serialize } from "node:v8";

export const serializer = (name) =>
  name === "instances" ? "it loses the class" : [serialize, deserialize];
