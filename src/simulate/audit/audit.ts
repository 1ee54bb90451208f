/**
 * `tandem audit` on one table: trains the job in one place, runs every attack on what each party would have seen, and
 * reports the results. It needs the data of all parties, so it is run before a federation exists.
 */
import { TandemError } from "../../base/error.ts";
import type { AuditResult, WhatIf } from "../../privacy/attack/audit-result.ts";
import { defenceNames, type Preset } from "../../privacy/defences/defences.ts";
import { resolveJob } from "../../party/resolve-job.ts";
import type { Job } from "../../protocol/job.ts";
import { schemeNamed } from "../../scheme/registry.ts";
import { prepareSimulation } from "../prepare-simulation.ts";
import type { SimulateOptions } from "../simulate-options.ts";
import { AttackBudget, type AttackTime, sumsAreExact } from "./attack-budget.ts";
import { attacked } from "./attacked.ts";
import { PresetOutlooks } from "./preset-outlooks.ts";
import { presetPrices, type PricedSplit } from "./preset-price.ts";
import type { AuditedJob } from "./recorded-training.ts";
import { changesTraining, whatIfs } from "./what-if.ts";

/** Compared in every audit of a table with the job's own scheme, if members are sent in one of the two only. */
const comparedSchemes: readonly string[] = ["paillier", "lattice"];

/** Splits of the rows that the price of a preset is the mean of. */
const pricedSplits = 3;

export interface AuditOptions extends AttackTime {
  /** Train again with each defence. */
  readonly whatIf: boolean;
}

/** @throws TandemError as simulate */
export async function auditSimulation(options: SimulateOptions, audit: AuditOptions): Promise<AuditResult> {
  const prepared = await prepareSimulation(options);
  if (prepared.test[0].ids.length === 0)
    throw new TandemError("USAGE", "an audit measures models on test rows: --test-fraction must be above 0");
  const { active, passives } = prepared.federation;
  const asItIs: AuditedJob = { ...prepared, names: [active, ...passives].map(({ name }) => name) };
  const others = audit.whatIf
    ? whatIfs.flatMap(({ name, change }) => {
        const changed = change(asItIs);
        return changed === null ? [] : [{ name, job: changed }];
      })
    : [];
  const { membership } = schemeNamed(asItIs.job.scheme);
  const alsoAs = comparedSchemes.filter((name) => schemeNamed(name).membership !== membership);
  const trained = others.flatMap(({ job: changed }) => (isSameTraining(asItIs, changed) ? [] : [changed.job]));
  const presets = audit.whatIf ? await PresetOutlooks.of(prepared, options.job, asItIs) : null;
  const attacks = [asItIs.job, ...alsoAs.map(() => asItIs.job), ...trained].filter(({ privacy }) =>
    sumsAreExact(privacy),
  );
  const budget = new AttackBudget(audit, attacks.length + (presets?.attacks ?? 0));
  const first = await attacked("as it is", asItIs, budget, alsoAs);
  const whatIf: WhatIf[] = [first.row];
  for (const { name, job: changed } of others) {
    const isTrainedAlike = isSameTraining(asItIs, changed);
    whatIf.push(
      isTrainedAlike
        ? { ...first.row, name, scoringBits: first.outcomeBits }
        : (await attacked(name, changed, budget)).row,
    );
  }
  const { parties, labels, schemes } = first;
  const common = { isEstimate: false, parties, labels, schemes };
  if (presets === null) return { ...common, whatIf: null };
  const rows = await presets.rows(first, budget);
  return { ...common, whatIf, prices: await pricesOf(options, budget), presets: rows };
}

/** Splits of the rows by seeds of their own; a test table that was given stays the same. */
async function pricesOf(options: SimulateOptions, budget: AttackBudget): Promise<AuditResult["prices"]> {
  const given = { ...options.job, privacy: {} };
  const { seed } = resolveJob(given).training;
  const splits: PricedSplit[] = [];
  for (let split = 0; split < pricedSplits; split++) {
    const ofSplit = { ...given, training: { ...given.training, seed: seed + split } };
    const prepared = await prepareSimulation({ ...options, job: ofSplit, onEvent: () => {} });
    const { train, test } = prepared;
    const job = (privacy: Preset): Job => ({
      ...prepared.job,
      privacy: resolveJob({ ...ofSplit, privacy: { privacy } }).privacy,
    });
    splits.push({ train, test, job });
  }
  budget.report("what presets cost: training", 0);
  return presetPrices(splits);
}

/** Masked scoring does not change training, so the first audit's figures hold. */
function isSameTraining({ job: a }: AuditedJob, { job: b }: AuditedJob): boolean {
  const isAlike = defenceNames.every((name) => !changesTraining(name) || a.privacy[name] === b.privacy[name]);
  return b.privacy.masked_scoring && a.training === b.training && isAlike;
}
