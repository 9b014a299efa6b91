// Cap'n Web's HTTP batches, a call in each.

import { createServer } from "node:http";
import { nodeHttpBatchRpcResponse, RpcTarget, serialize } from "capnweb";
import { layers, listen, unable } from "../serve.mjs";

class Stock extends RpcTarget {
  async add(a, b) {
    return a + b;
  }
  async echo(value) {
    return value;
  }
}

const body = (procedure, args) => {
  const values = Object.values(args).map((value) => serialize(value));
  return `["push",["pipeline",0,["${procedure}"],[${values.join(",")}]]]\n["pull",1]`;
};

if (layers > 0) unable("it has no middleware");
else {
  const server = createServer((request, response) =>
    nodeHttpBatchRpcResponse(request, response, new Stock()),
  );
  listen(server, { path: () => "/rpc", headers: { "content-type": "text/plain" }, body });
}
