/** A report's metrics and curves: how good the model is. */
import { type Html, html } from "../base/text/html.ts";
import type { OwnJobView } from "../record/own-view.ts";
import { formatMetric } from "../base/text/format.ts";
import { metricNamesOf, stoppingMarks } from "../record/job-facts.ts";
import type { JobView } from "../record/job-view.ts";
import { htmlTable } from "./html-table.ts";
import { ksChart, learningChart, rocChart, scoreChart } from "./job-charts.ts";

type Metrics = Readonly<Record<string, number>>;

interface MetricsPerPart {
  readonly train: Metrics;
  readonly validation?: Metrics | null | undefined;
  readonly test: Metrics | null;
}

export function metricsPart({ result, rounds, parameters }: JobView): Html {
  const last = rounds[rounds.length - 1];
  const train = result?.metrics.train ?? last?.train;
  if (train === undefined) return html``;
  const test = result?.metrics.test ?? null;
  const validation = result?.metrics.validation ?? last?.validation ?? null;
  const names = Object.keys(train);
  const alone = result?.alone;
  const rows = [
    ...metricsRows(names, { train, validation, test }, ""),
    ...(alone === undefined ? [] : metricsRows(names, alone, ", own columns alone")),
  ];
  const note = html`<p class="soft">
    Own columns alone: a model of this party's columns only, with the same rows, seed and parameters. The difference is
    what the other parties' columns added.
  </p>`;
  const { classes } = parameters;
  const named = classes === undefined ? "" : html`<p class="soft">Classes, from 0 on: ${String(classes)}</p>`;
  return html`<h2>Metrics</h2>
    ${htmlTable(["", ...names], rows)}${named}${alone === undefined ? "" : note}`;
}

function metricsRows(names: readonly string[], of: MetricsPerPart, suffix: string): string[][] {
  const parts = [
    ["training rows", of.train],
    ["validation rows", of.validation ?? null],
    ["test rows", of.test],
  ] as const;
  return parts.flatMap(([name, metrics]) =>
    metrics === null ? [] : [[name + suffix, ...names.map((metric) => formatMetric(metrics[metric], 5))]],
  );
}

/** Curves of scores are the party's own: a public report goes without. */
export function qualityPart(view: JobView, scores: OwnJobView["scores"]): Html {
  const names = metricNamesOf(view);
  if (names.length === 0) return html``;
  const learning = names.map((name) =>
    chart(`${name} after each tree`, learningChart(view.rounds, name, stoppingMarks(view))),
  );
  const curves =
    scores === null
      ? []
      : [
          chart("ROC curve, test rows", rocChart(scores)),
          chart("KS: fraction of each label at or below a score, test rows", ksChart(scores)),
          chart("Score distribution: fraction of each label, test rows", scoreChart(scores)),
        ];
  return html`<h2>Quality</h2>
    <div class="charts">${learning}${curves}</div>`;
}

function chart(caption: string, picture: Html): Html {
  return html`<figure>
    <figcaption>${caption}</figcaption>
    ${picture}
  </figure>`;
}
