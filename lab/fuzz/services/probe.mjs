// Loaded into a service before it starts: tells the parent process what it holds after a collection.

process.on("message", () => {
  globalThis.gc();
  globalThis.gc();
  const handles = {};
  for (const name of process.getActiveResourcesInfo()) handles[name] = (handles[name] ?? 0) + 1;
  const { heapUsed, external, rss } = process.memoryUsage();
  process.send({ heapUsed, external, rss, handles });
});
// Must not keep the service from ending.
process.channel.unref();
