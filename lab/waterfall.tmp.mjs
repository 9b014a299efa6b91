import { chromium } from "@playwright/test";
import { browserArguments } from "../scripts/browser.mjs";
const url = process.argv[2];
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: browserArguments });
const context = await browser.newContext();
for (const visit of [1, 2]) {
  const page = await context.newPage();
  const s = await context.newCDPSession(page);
  await s.send("Network.enable");
  await s.send("Network.emulateNetworkConditions", { offline: false, latency: 40, downloadThroughput: -1, uploadThroughput: -1 });
  const rows = new Map(); let t0;
  s.on("Network.requestWillBeSent", (e) => { t0 ??= e.timestamp; rows.set(e.requestId, { url: new URL(e.request.url).pathname, start: e.timestamp - t0, prio: e.request.initialPriority }); });
  s.on("Network.responseReceived", (e) => { const r = rows.get(e.requestId); if (r) { r.head = e.timestamp - t0; r.status = e.response.status; r.cache = e.response.fromDiskCache; r.conn = e.response.connectionId; r.t = e.response.timing; } });
  s.on("Network.loadingFinished", (e) => { const r = rows.get(e.requestId); if (r) { r.end = e.timestamp - t0; r.bytes = e.encodedDataLength; } });
  await page.addInitScript(() => { const o = new MutationObserver(() => { if (document.querySelector("article.preview")) { o.disconnect(); globalThis.at = performance.now(); } }); o.observe(document, { childList: true, subtree: true }); });
  await page.goto(url, { waitUntil: "commit" });
  const at = await (await page.waitForFunction(() => globalThis.at)).jsonValue();
  await page.waitForLoadState("networkidle");
  console.log("visit", visit, "there after", at.toFixed(0));
  let sum = 0;
  for (const r of rows.values()) { sum += r.bytes ?? 0; console.log([r.url.padEnd(34), (r.start*1e3).toFixed(0).padStart(5), (r.head*1e3).toFixed(0).padStart(5), (r.end*1e3).toFixed(0).padStart(5), r.status, r.bytes, r.cache ? "cache" : "", r.prio, "conn", r.conn, "connect", r.t && (r.t.connectEnd-r.t.connectStart).toFixed(0), "send", r.t && r.t.sendStart.toFixed(0)].join(" ")); }
  console.log("bytes", sum);
  await page.close();
}
await browser.close();
