// An open page, as Vite sees it: its line to the server.

import { WebSocket } from "undici";

export interface Told {
  readonly type: string;
  readonly event?: string;
  readonly err?: { readonly message: string; readonly frame?: string; readonly loc?: object };
}

/** What Vite's client is told, as a page that is open would hear it. */
export async function openPage(
  url: string,
): Promise<{ readonly told: Told[]; readonly close: () => void }> {
  const client = await (await fetch(`${url}/@vite/client`)).text();
  const token = /wsToken = "([^"]+)"/.exec(client)?.[1] ?? "";
  const socket = new WebSocket(`${url.replace("http", "ws")}/?token=${token}`, "vite-hmr");
  const told: Told[] = [];
  socket.addEventListener(
    "message",
    ({ data }) => void told.push(JSON.parse(String(data)) as Told),
  );
  await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
  return { told, close: () => socket.close() };
}
