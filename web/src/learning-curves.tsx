/** Metrics after every tree, one at a time: the page's choice. */
import { signal } from "@preact/signals";
import { formatMetric } from "../../src/base/text/format.ts";
import { metricNamesOf } from "../../src/record/job-facts.ts";
import type { JobView } from "../../src/record/job-view.ts";
import { Nothing } from "../views/card.tsx";
import { LearningCurve, LearningTable } from "../views/learning-curve.tsx";

const chosen = signal<string | null>(null);

/** Early stopping uses the last metric. Without it, the first one is shown. */
function decidingMetric({ parameters }: JobView, names: readonly string[]): string {
  return Number(parameters["early_stopping_rounds"] ?? 0) > 0 ? names[names.length - 1] : names[0];
}

export function LearningCurves({ view }: { readonly view: JobView }) {
  if (view.role === "passive") return <Nothing>Only the active party has labels, so only it sees metrics.</Nothing>;
  if (view.rounds.length === 0) return <Nothing>Metrics appear here after the first tree.</Nothing>;
  const names = metricNamesOf(view);
  if (names.length === 0) return <Nothing>Metrics appear here when a round is evaluated.</Nothing>;
  const name = chosen.value !== null && names.includes(chosen.value) ? chosen.value : decidingMetric(view, names);
  const test = view.result?.metrics.test?.[name];
  return (
    <>
      <div class="chart-head">
        <MetricChoice names={names} name={name} onChoice={(metric) => (chosen.value = metric)} />
        {test !== undefined && (
          <span class="hint">
            test {name} <strong>{formatMetric(test)}</strong>
          </span>
        )}
      </div>
      <LearningCurve view={view} name={name} />
      <LearningTable view={view} summary="As a table" />
    </>
  );
}

interface MetricChoiceProps {
  readonly names: readonly string[];
  readonly name: string;
  readonly onChoice: (name: string) => void;
}

export function MetricChoice({ names, name, onChoice }: MetricChoiceProps) {
  return (
    <label class="choice">
      <span>Metric</span>
      <select value={name} onChange={(event) => onChoice(event.currentTarget.value)}>
        {names.map((metric) => (
          <option key={metric}>{metric}</option>
        ))}
      </select>
    </label>
  );
}
