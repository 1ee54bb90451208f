/** One metric after every tree: of the rows that are trained on, and of the validation rows where a job has them. */
import { metricNamesOf, stoppingMarks } from "../../src/record/job-facts.ts";
import type { JobView } from "../../src/record/job-view.ts";
import { Behind, Table } from "./card.tsx";
import { Chart, type Series } from "./chart.tsx";

export function LearningCurve({ view, name }: { readonly view: JobView; readonly name: string }) {
  const { rounds } = view;
  const series: Series[] = [
    { label: "training", colour: "--party-active", values: rounds.map(({ train }) => train[name] ?? null) },
  ];
  if (hasValidation(view))
    series.push({
      label: "validation",
      colour: "--party-0",
      values: rounds.map(({ validation }) => validation?.[name] ?? null),
      dash: "dashed",
    });
  const marks = stoppingMarks(view);
  return (
    <Chart
      label={[`${name} after each tree`, ...marks.map(({ at, text }) => `${text}, at tree ${at}`)].join("; ")}
      x={rounds.map(({ tree }) => tree + 1)}
      series={series}
      xLabel="tree"
      wholeX
      marks={marks}
    />
  );
}

function hasValidation({ rounds }: JobView): boolean {
  return rounds.some(({ validation }) => validation !== null);
}

/** All metrics after every tree. */
export function LearningTable({ view, summary }: { readonly view: JobView; readonly summary: string }) {
  const names = metricNamesOf(view);
  const isValidated = hasValidation(view);
  const head = isValidated
    ? ["tree", ...names.map((metric) => `training ${metric}`), ...names.map((metric) => `validation ${metric}`)]
    : ["tree", ...names];
  const rows = (): string[][] =>
    view.rounds.map(({ tree, train, validation }) => [
      String(tree + 1),
      ...names.map((metric) => train[metric]?.toFixed(5) ?? ""),
      ...(isValidated ? names.map((metric) => validation?.[metric]?.toFixed(5) ?? "") : []),
    ]);
  return (
    <Behind summary={summary} table={() => <Table caption="Metrics after each tree" head={head} rows={rows()} />} />
  );
}
