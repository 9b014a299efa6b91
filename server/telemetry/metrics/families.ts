// The names of all metrics, with their descriptions. docs/guide/operations.md has the same table.

export interface Family {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
}

const family = (
  name: string,
  type: Family["type"],
  help: string,
  ...labels: readonly string[]
): Family => ({ name, type, help, labels });

type FamilyName =
  | "info"
  | "calls"
  | "failures"
  | "duration"
  | "running"
  | "limit"
  | "ageMiddle"
  | "ageMost"
  | "refused"
  | "streams"
  | "streamLimit"
  | "items"
  | "resent"
  | "members"
  | "links"
  | "held"
  | "heldLimit"
  | "delayMiddle"
  | "delayHigh"
  | "delayMost"
  | "cpu"
  | "memory"
  | "heap"
  | "started";

export const families: Readonly<Record<FamilyName, Family>> = {
  info: family(
    "seamline_info",
    "gauge",
    "1, with the service's role, name and version",
    "role",
    "node",
    "version",
  ),
  calls: family(
    "seamline_calls_total",
    "counter",
    "Calls and requests for routes that were answered",
    "procedure",
  ),
  failures: family(
    "seamline_call_failures_total",
    "counter",
    "Those of them that failed, by the name of the error",
    "procedure",
    "kind",
  ),
  duration: family(
    "seamline_call_duration_seconds",
    "histogram",
    "Time until the head of the answer",
    "procedure",
  ),
  running: family("seamline_calls_running", "gauge", "Calls that run now, or are passed on"),
  limit: family("seamline_calls_limit", "gauge", "How many calls may run at once now"),
  ageMiddle: family(
    "seamline_calls_running_age_p50_seconds",
    "gauge",
    "For how long the middle one of the calls that run now has been running",
  ),
  ageMost: family(
    "seamline_calls_running_age_max_seconds",
    "gauge",
    "For how long the oldest of them has",
  ),
  refused: family(
    "seamline_calls_refused_total",
    "counter",
    "Calls that were refused because too many ran",
  ),
  streams: family("seamline_streams", "gauge", "Streams that are being sent, or passed on"),
  streamLimit: family("seamline_streams_limit", "gauge", "The most of them: limits.maxStreams"),
  items: family(
    "seamline_stream_items_total",
    "counter",
    "Items that procedures of the service have yielded to callers elsewhere",
  ),
  resent: family(
    "seamline_calls_resent_total",
    "counter",
    "Calls that the gateway sent to another member, by the outcome at the first one",
    "reason",
  ),
  members: family(
    "seamline_members",
    "gauge",
    "Members of the gateway, by state: ready, or the reason that keeps calls from them",
    "state",
  ),
  links: family(
    "seamline_links",
    "gauge",
    "Open links, by which end has dialled: this one, or the other",
    "direction",
  ),
  held: family("seamline_held_bytes", "gauge", "Bytes that callers make the service hold"),
  heldLimit: family("seamline_held_limit_bytes", "gauge", "The most of them: limits.heldBytes"),
  delayMiddle: family(
    "seamline_event_loop_delay_p50_seconds",
    "gauge",
    "Half of the delays of the event loop were shorter, since metrics were last read",
  ),
  delayHigh: family(
    "seamline_event_loop_delay_p99_seconds",
    "gauge",
    "99 of 100 delays were shorter",
  ),
  delayMost: family("seamline_event_loop_delay_max_seconds", "gauge", "The longest delay"),
  cpu: family("process_cpu_seconds_total", "counter", "Processor time of the process"),
  memory: family("process_resident_memory_bytes", "gauge", "Resident memory of the process"),
  heap: family("seamline_heap_used_bytes", "gauge", "Used bytes of the JavaScript heap"),
  started: family(
    "process_start_time_seconds",
    "gauge",
    "When the process started, in seconds since 1970",
  ),
};
