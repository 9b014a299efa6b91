// The text format of Prometheus, version 0.0.4.

import type { Family } from "./families.ts";

export const expositionType = "text/plain; version=0.0.4; charset=utf-8";

type Labels = Readonly<Record<string, string>>;

/** Writes one family after the other. */
export class Exposition {
  #text = "";

  get text(): string {
    return this.#text;
  }

  /** Writes the head of a family. Its samples follow. */
  family({ name, type, help }: Family): void {
    this.#text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
  }

  sample(name: string, value: number, labels?: Labels): void {
    this.#text += `${name}${labels === undefined ? "" : labelled(labels)} ${value}\n`;
  }

  /** A family with one sample. */
  value(family: Family, value: number, labels?: Labels): void {
    this.family(family);
    this.sample(family.name, value, labels);
  }

  /** A family with a sample for each value of its label. */
  values(family: Family, values: Readonly<Record<string, number>> | undefined): void {
    if (values === undefined) return;
    this.family(family);
    const [label = ""] = family.labels;
    for (const [text, value] of Object.entries(values))
      this.sample(family.name, value, { [label]: text });
  }
}

function labelled(labels: Labels): string {
  const texts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return `{${texts.join(",")}}`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
