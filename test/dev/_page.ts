// An open page as Vite sees it: its connection to the server.

import { WebSocket } from "undici";

export interface PageMessage {
  readonly type: string;
  readonly event?: string;
  readonly err?: { readonly message: string; readonly frame?: string; readonly loc?: object };
}

/** Opens a page, and collects the messages that Vite's client gets. */
export async function openPage(
  url: string,
): Promise<{ readonly messages: PageMessage[]; readonly close: () => void }> {
  const client = await (await fetch(`${url}/@vite/client`)).text();
  const token = /wsToken = "([^"]+)"/.exec(client)?.[1] ?? "";
  const socket = new WebSocket(`${url.replace("http", "ws")}/?token=${token}`, "vite-hmr");
  const messages: PageMessage[] = [];
  socket.addEventListener(
    "message",
    ({ data }) => void messages.push(JSON.parse(String(data)) as PageMessage),
  );
  await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
  return { messages, close: () => socket.close() };
}
