// Reads what a service tells Prometheus, and refuses what a Prometheus would.

const name = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const sampleLine = new RegExp(`^(${name})(?:\\{(.*)\\})? (-?[\\d.]+(?:e[+-]?\\d+)?|[+-]Inf|NaN)$`);
const labelPair = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/gy;

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Exposed {
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
  /** The value of the only sample with this name and these labels. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
}

/** Throws for text that isn't the text format, version 0.0.4. */
export function parseMetrics(text: string): Exposed {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const types = new Map<string, string>();
  const helps = new Set<string>();
  const samples: Sample[] = [];
  const seen = new Set<string>();
  let current = "";
  for (const line of text.slice(0, -1).split("\n")) {
    const [, kind, about = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === "HELP") {
      if (helps.has(about)) throw new Error(`${about} has two groups`);
      helps.add(about);
      current = about;
    } else if (kind === "TYPE") {
      if (about !== current || !/^(?:counter|gauge|histogram)$/.test(rest))
        throw new Error(`${line}: expected the type of ${current}`);
      types.set(about, rest);
    } else {
      const [, sample = "", labels = "", value = ""] = sampleLine.exec(line) ?? [];
      const isHistogram = types.get(current) === "histogram";
      const family = isHistogram ? sample.replace(/_(?:bucket|sum|count)$/, "") : sample;
      if (sample === "" || family !== current)
        throw new Error(`not a sample of ${current}: ${line}`);
      if (types.get(current) === "counter" && !sample.endsWith("_total"))
        throw new Error(`a counter ends in _total: ${sample}`);
      const pairs = [...labels.matchAll(labelPair)];
      if (pairs.map(([all]) => all).join("") !== labels) throw new Error(`labels of ${line}`);
      const key = `${sample}{${labels}}`;
      if (seen.has(key)) throw new Error(`twice: ${key}`);
      seen.add(key);
      const named = pairs.map(([, label = "", content = ""]) => [label, content] as const);
      samples.push({ name: sample, labels: Object.fromEntries(named), value: Number(value) });
    }
  }
  checkHistograms(samples);
  return {
    types,
    samples,
    value: (wanted, labels = {}) => {
      const found = samples.filter(
        (sample) =>
          sample.name === wanted &&
          Object.entries(labels).every(([label, content]) => sample.labels[label] === content),
      );
      if (found.length > 1) throw new Error(`${found.length} samples of ${wanted}`);
      return found[0]?.value;
    },
  };
}

/** Buckets grow, and the last one counts all. */
function checkHistograms(samples: readonly Sample[]): void {
  const last = new Map<string, number>();
  for (const { name: sample, labels, value } of samples) {
    if (!sample.endsWith("_bucket") && !sample.endsWith("_count")) continue;
    const { le, ...others } = labels;
    const key = sample.replace(/_\w+$/, "") + JSON.stringify(others);
    const before = last.get(key) ?? 0;
    if (sample.endsWith("_bucket") ? value < before : value !== before)
      throw new Error(`the buckets of ${key} don't add up at ${String(le)}`);
    last.set(key, value);
  }
}
