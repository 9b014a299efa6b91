// Spans as an application with the SDK of OpenTelemetry records them, in memory.

import * as api from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeEach } from "vitest";

/** Sets the SDK up for the tests of a file. What it returns has the spans of the test that runs. */
export function recordSpans(): InMemorySpanExporter {
  const exporter = new InMemorySpanExporter();
  const processor = new SimpleSpanProcessor(exporter);
  api.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [processor] }));
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  afterAll(() => {
    api.trace.disable();
    api.context.disable();
  });
  beforeEach(() => exporter.reset());
  return exporter;
}
