/**
 * What presets cost in the job's own metric: the share of the federation's gain that each keeps, (metric - active party
 * alone) / (exact - alone), on test rows, over splits of the rows and draws of noise. Trained in one place, which
 * equals the federated job bit for bit.
 */
import type { PartyTable } from "../../data/dataset.ts";
import { metricsFor } from "../../gbdt/boost/boosting-monitor.ts";
import { Evaluation } from "../../gbdt/metric/evaluation.ts";
import { isHigherBetter, type MetricName } from "../../gbdt/metric/metrics.ts";
import { objectiveFor } from "../../gbdt/objective/objectives.ts";
import { trainPlain } from "../../party/active/plain-training.ts";
import { withGrid } from "../../party/job-grid.ts";
import { noiseSecretFrom } from "../../party/noise-secret.ts";
import { rowsOfTable } from "../../party/tables/table-rows.ts";
import type { PresetPrice } from "../../privacy/attack/audit-result.ts";
import { type Preset, presets } from "../../privacy/defences/defences.ts";
import type { Job } from "../../protocol/job.ts";
import { simulatedNoiseSecret, simulatedSecret } from "../federation.ts";
import { mean } from "./scheme-row.ts";

/** A split of the rows: index 0 is the active party. */
export interface PricedSplit {
  readonly train: readonly PartyTable[];
  readonly test: readonly PartyTable[];
  /** The job with a preset. */
  job(preset: Preset): Job;
}

const drawsPerSplit = 2;

/** @returns null if there are no test rows */
export async function presetPrices(splits: readonly PricedSplit[]): Promise<PresetPrice[] | null> {
  if (splits.some(({ test }) => test[0].ids.length === 0)) return null;
  const prices: PresetPrice[] = [];
  const bases = [];
  for (const split of splits) {
    const job = split.job("exact");
    const alone = await testMetric(job, split, 0, 1);
    bases.push({ alone, exact: await testMetric(job, split, 0) });
  }
  const gain = (mean(bases.map(({ exact }) => exact)) ?? 0) - (mean(bases.map(({ alone }) => alone)) ?? 0);
  const metric = metricOf(splits[0].job("exact").training);
  const isGain = isHigherBetter(metric) ? gain > 0 : gain < 0; // otherwise there is nothing to keep
  for (const preset of presets) {
    const values: number[] = [];
    const shares: number[] = [];
    for (const [i, split] of splits.entries()) {
      const { alone, exact } = bases[i];
      const isNoisy = split.job(preset).privacy.answer_noise > 0;
      for (let draw = 0; draw < (isNoisy ? drawsPerSplit : 1); draw++) {
        const value = preset === "exact" ? exact : await testMetric(split.job(preset), split, draw);
        values.push(value);
        shares.push((value - alone) / (exact - alone));
      }
    }
    const { privacy } = splits[0].job(preset);
    const value = mean(values) ?? 0;
    const alone = mean(bases.map((base) => base.alone)) ?? 0;
    prices.push({
      preset,
      sums: sumsText(privacy),
      metric,
      alone,
      value,
      kept: isGain ? (value - alone) / gain : null,
      lowest: Math.min(...shares),
      highest: Math.max(...shares),
    });
  }
  return prices;
}

/** How sums are sent. */
export function sumsText({ hidden_sums: isHidden, answer_noise: noise }: Job["privacy"]): string {
  if (isHidden) return "hidden";
  return noise > 0 ? `noise ${noise}` : "exact";
}

function metricOf(training: Job["training"]): MetricName {
  return objectiveFor(training.objective).kind === "binary" ? "auc" : (metricsFor(training).at(-1) ?? "rmse");
}

/** @param parties how many take part, from the active one on */
async function testMetric(
  asked: Job,
  { train, test }: PricedSplit,
  draw: number,
  parties = train.length,
): Promise<number> {
  const tables = train.slice(0, parties);
  const rows = rowsOfTable(tables[0]);
  const job = withGrid(asked, rows.trainedCount);
  const { training } = job;
  const { margins } = await trainPlain({
    job,
    train: tables,
    test: test.slice(0, parties),
    rows,
    samplingSecrets: tables.map((_, party) => simulatedSecret(party)),
    noiseSecrets: tables.map((_, party) =>
      noiseSecretFrom(`${simulatedNoiseSecret(party, training)}${draw === 0 ? "" : `, draw ${draw}`}`),
    ),
  });
  if (margins.test === null) return Number.NaN;
  return Number(new Evaluation(training, margins.test, rowsOfTable(test[0])).value(metricOf(training)));
}
