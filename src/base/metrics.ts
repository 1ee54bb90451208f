/**
 * Counters, gauges and histograms in Prometheus' text format (version 0.0.4). Few and fixed: labels take their values
 * from parties, statuses and error codes, never from ids.
 */
type Labels = Readonly<Record<string, string>>;

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  lines(): string[];
}

export class Counter implements Metric {
  readonly name: string;
  readonly help: string;
  readonly type = "counter";
  readonly #values = new Map<string, number>();

  constructor(name: string, help: string) {
    this.name = name;
    this.help = help;
  }

  add(labels: Labels, count = 1): void {
    const key = labelText(labels);
    this.#values.set(key, (this.#values.get(key) ?? 0) + count);
  }

  lines(): string[] {
    return [...this.#values].map(([labels, value]) => `${this.name}${labels} ${value}`);
  }
}

/** A value that is read when it is exported. */
export class Gauge implements Metric {
  readonly name: string;
  readonly help: string;
  readonly type = "gauge";
  readonly #value: () => number;

  constructor(name: string, help: string, value: () => number) {
    this.name = name;
    this.help = help;
    this.#value = value;
  }

  lines(): string[] {
    return [`${this.name} ${this.#value()}`];
  }
}

/** Values with labels, read when they are exported. */
export class LabelledGauge implements Metric {
  readonly name: string;
  readonly help: string;
  readonly type = "gauge";
  readonly #values: () => readonly (readonly [Labels, number])[];

  constructor(name: string, help: string, values: () => readonly (readonly [Labels, number])[]) {
    this.name = name;
    this.help = help;
    this.#values = values;
  }

  lines(): string[] {
    return this.#values().map(([labels, value]) => `${this.name}${labelText(labels)} ${value}`);
  }
}

interface Buckets {
  readonly labels: Labels;
  readonly counts: number[];
  sum: number;
  count: number;
}

export class Histogram implements Metric {
  readonly name: string;
  readonly help: string;
  readonly type = "histogram";
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Buckets>();

  /** @param bounds upper bounds, ascending */
  constructor(name: string, help: string, bounds: readonly number[]) {
    this.name = name;
    this.help = help;
    this.#bounds = bounds;
  }

  observe(labels: Labels, value: number): void {
    const key = labelText(labels);
    const series = this.#series.get(key) ?? { labels, counts: this.#bounds.map(() => 0), sum: 0, count: 0 };
    const bucket = this.#bounds.findIndex((bound) => value <= bound);
    if (bucket !== -1) series.counts[bucket]++;
    series.sum += value;
    series.count++;
    this.#series.set(key, series);
  }

  lines(): string[] {
    return [...this.#series].flatMap(([key, { labels, counts, sum, count }]) => {
      let below = 0;
      const buckets = counts.map(
        (inBucket, i) =>
          `${this.name}_bucket${labelText({ ...labels, le: String(this.#bounds[i]) })} ${(below += inBucket)}`,
      );
      return [
        ...buckets,
        `${this.name}_bucket${labelText({ ...labels, le: "+Inf" })} ${count}`,
        `${this.name}_sum${key} ${sum}`,
        `${this.name}_count${key} ${count}`,
      ];
    });
  }
}

export function metricsText(metrics: readonly Metric[]): string {
  return metrics
    .flatMap((metric) => [
      `# HELP ${metric.name} ${metric.help}`,
      `# TYPE ${metric.name} ${metric.type}`,
      ...metric.lines(),
    ])
    .map((line) => `${line}\n`)
    .join("");
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`,
  );
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}
