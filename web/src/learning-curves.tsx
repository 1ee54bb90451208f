/** Metrics after every tree: of the rows that are trained on, and of those held back where a job has them. */
import { signal } from "@preact/signals";
import { formatMetric } from "../../src/base/text/format.ts";
import { metricNamesOf, stoppingMarks } from "../../src/record/job-facts.ts";
import type { JobView } from "../../src/record/job-view.ts";
import { Behind, Nothing, Table } from "./card.tsx";
import { Chart, type Series } from "./chart.tsx";

const chosen = signal<string | null>(null);

/** Early stopping looks at the last metric. Without it, the first is as good as any. */
function decidingMetric({ parameters }: JobView, names: readonly string[]): string {
  return Number(parameters["early_stopping_rounds"] ?? 0) > 0 ? names[names.length - 1] : names[0];
}

export function LearningCurves({ view }: { readonly view: JobView }) {
  const { rounds } = view;
  if (view.role === "passive") return <Nothing>Only the active party has labels, so only it sees metrics.</Nothing>;
  if (rounds.length === 0) return <Nothing>Metrics appear here after the first tree.</Nothing>;
  const names = metricNamesOf(view);
  if (names.length === 0) return <Nothing>Metrics appear here when a round is evaluated.</Nothing>;
  const name = chosen.value !== null && names.includes(chosen.value) ? chosen.value : decidingMetric(view, names);
  const series: Series[] = [
    {
      label: "training",
      colour: "--party-active",
      values: rounds.map(({ train }) => train[name] ?? null),
      points: rounds.length < 30,
    },
  ];
  const hasValidation = rounds.some(({ validation }) => validation !== null);
  if (hasValidation)
    series.push({
      label: "validation",
      colour: "--party-0",
      values: rounds.map(({ validation }) => validation?.[name] ?? null),
      dash: [6, 4],
      points: rounds.length < 30,
    });
  const test = view.result?.metrics.test?.[name];
  const columns = hasValidation
    ? ["tree", ...names.map((metric) => `training ${metric}`), ...names.map((metric) => `validation ${metric}`)]
    : ["tree", ...names];
  return (
    <>
      <div class="chart-head">
        <label class="choice">
          <span>Metric</span>
          <select value={name} onChange={(event) => (chosen.value = event.currentTarget.value)}>
            {names.map((metric) => (
              <option key={metric}>{metric}</option>
            ))}
          </select>
        </label>
        {test !== undefined && (
          <span class="hint">
            test {name} <strong>{formatMetric(test)}</strong>
          </span>
        )}
      </div>
      <Chart
        label={[`${name} after each tree`, ...stoppingMarks(view).map(({ at, text }) => `${text}, at tree ${at}`)].join(
          "; ",
        )}
        x={rounds.map(({ tree }) => tree + 1)}
        series={series}
        xLabel="tree"
        wholeX
        marks={stoppingMarks(view)}
      />
      <Behind
        table={() => (
          <Table
            caption="Metrics after each tree"
            head={columns}
            rows={rounds.map(({ tree, train, validation }) => [
              String(tree + 1),
              ...names.map((metric) => train[metric]?.toFixed(5) ?? ""),
              ...(hasValidation ? names.map((metric) => validation?.[metric]?.toFixed(5) ?? "") : []),
            ])}
          />
        )}
      />
    </>
  );
}
