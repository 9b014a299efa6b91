// R14: callers that open connections and say nothing, that send a byte now and then, or that don't
// read their answers. The others must not notice.

import { once } from "node:events";
import { connect, type Socket } from "node:net";

import { pause } from "../harness/load.ts";
import { hasFailed, rowOf, worst } from "../harness/measure.ts";
import { type Scenario, settled, underLoad } from "../harness/scenario.ts";

const r14 = rowOf("R14");
const [idle, slowHeads, slowBodies, unread] = [500, 300, 100, 100] as const;
const byteMs = 500;
const durationMs = 38_000;

export const slowCallers: Scenario = {
  name: "slow-callers",
  rows: ["R14"],
  async run(deployment, context) {
    const port = Number(new URL(deployment.url).port);
    const sockets: Socket[] = [];
    const timers: NodeJS.Timeout[] = [];
    /** Opens connections, and gives how long the slowest to be cut was open. */
    const open = async (
      count: number,
      begin: (socket: Socket) => void,
      drip?: string,
    ): Promise<() => number> => {
      const opened = performance.now();
      const lasted = new Map<Socket, number>();
      for (let index = 0; index < count; index++) {
        const socket = connect(port, "127.0.0.1");
        sockets.push(socket);
        // It is cut: that is the point.
        socket.on("error", () => {});
        socket.once("close", () => lasted.set(socket, performance.now() - opened));
        await once(socket, "connect");
        begin(socket);
        if (drip !== undefined) {
          socket.resume();
          timers.push(setInterval(() => void (socket.writable && socket.write(drip)), byteMs));
        }
      }
      return () => (lasted.size < count ? Infinity : worst([...lasted.values()]));
    };
    let cutHeads = (): number => Infinity;
    let cutBodies = (): number => Infinity;
    try {
      const loaded = await underLoad(
        deployment,
        context,
        { kinds: ["order", "stock"], durationMs, rate: 100 },
        async (load) => {
          await load.at(1_000);
          await open(idle, () => {});
          cutHeads = await open(
            slowHeads,
            (socket) => socket.write("POST /rpc/order HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: "),
            "x",
          );
          cutBodies = await open(
            slowBodies,
            (socket) =>
              socket.write(
                "POST /rpc/order HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n",
              ),
            " ",
          );
          await open(unread, (socket) => {
            socket.pause();
            const get = "GET /svc/client.js HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
            socket.write(get.repeat(20));
          });
          await load.at(durationMs - 500);
        },
      );
      const { outcomes } = loaded;
      return [
        r14("others: calls failed", "calls", outcomes.filter(hasFailed).length, { most: 0 }),
        r14("others: longest wait", "ms", worst(outcomes.map(({ at, ended }) => ended - at)), {
          most: 1_500,
        }),
        r14("the last slow head is cut after", "ms", cutHeads(), { most: 15_000 }),
        r14("the last slow body is cut after", "ms", cutBodies(), { most: 35_000 }),
        ...loaded.measures,
      ];
    } finally {
      for (const timer of timers) clearInterval(timer);
      for (const socket of sockets) socket.destroy();
      await pause(100);
      await settled(deployment);
    }
  },
};
