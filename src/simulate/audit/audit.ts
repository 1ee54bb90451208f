/**
 * `tandem audit` on one table: trains the job in one place, runs every attack on what each party would have seen, and
 * reports the results. It needs the data of all parties, so it is run before a federation exists.
 */
import { TandemError } from "../../base/error.ts";
import { availableParallelism } from "node:os";
import type {
  AuditResult,
  LabelExposure,
  PartyExposure,
  SchemeExposure,
  WhatIf,
} from "../../privacy/attack/audit-result.ts";
import { guessLabels } from "../../privacy/attack/cells.ts";
import { exposureOf } from "../../privacy/attack/exposure.ts";
import { defenceNames, type Preset } from "../../privacy/defences/defences.ts";
import { resolveJob } from "../../party/resolve-job.ts";
import type { Job } from "../../protocol/job.ts";
import { schemeNamed } from "../../scheme/registry.ts";
import { prepareSimulation } from "../prepare-simulation.ts";
import type { SimulateOptions } from "../simulate-options.ts";
import { AttackBudget, type AttackTime } from "./attack-budget.ts";
import { presetPrices, type PricedSplit } from "./preset-price.ts";
import { changesTraining, whatIfs } from "./what-if.ts";
import { type AuditedJob, type RecordedTraining, type SchemeDisclosure, trainRecorded } from "./recorded-training.ts";
import { bestGuess, type AttackedScheme, mean, schemeRow } from "./scheme-row.ts";

/** Compared in every audit of a table with the job's own scheme, if members are sent in one of the two only. */
const comparedSchemes: readonly string[] = ["paillier", "lattice"];

/** Splits of the rows that the price of a preset is the mean of. */
const pricedSplits = 3;

/** Labels that the passive party is assumed to know in the second label attack. */
const knownLabels = 200;

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
  const trainings = others.filter(({ job: changed }) => !isSameTraining(asItIs, changed)).length;
  const budget = new AttackBudget(audit, 1 + alsoAs.length + trainings);
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
  const prices = audit.whatIf ? await pricesOf(options, budget) : null;
  return { isEstimate: false, parties, labels, whatIf: audit.whatIf ? whatIf : null, schemes, prices };
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

interface Attacked {
  readonly parties: readonly PartyExposure[];
  readonly labels: readonly LabelExposure[];
  readonly row: WhatIf;
  /** Revealed by outcomes in training, mean over the parties. */
  readonly outcomeBits: number;
  /** The job's own scheme first. */
  readonly schemes: readonly SchemeExposure[];
}

/** @param others schemes under which the same training is recorded as well */
async function attacked(
  name: string,
  job: AuditedJob,
  budget: AttackBudget,
  others: readonly string[] = [],
): Promise<Attacked> {
  budget.report(`${name}: training`, 0);
  const trained = await trainRecorded(job, others);
  const found: AttackedScheme[] = [];
  for (const [at, sent] of trained.schemes.entries()) {
    const step = at === 0 ? name : `${name}, with ${sent.scheme}`;
    const { scheme, membership } = sent;
    const parties = await exposures(step, sent, budget);
    found.push({ scheme, membership, parties, labels: labelExposures(trained, sent) });
    budget.jobEnded();
  }
  const [{ parties, labels }] = found;
  const bounds = parties.flatMap(({ columns }) => columns.flatMap(({ sumsBound }) => sumsBound ?? []));
  return {
    parties,
    labels,
    outcomeBits: mean(parties.map(({ bits, left }) => bits - left.outcomes)) ?? 0,
    schemes: found.map((each, at) => schemeRow(each, at === 0, job.job.privacy.answer_noise > 0)),
    row: {
      name,
      testMetric: trained.testMetric,
      certain: mean(parties.map(({ certain }) => certain.sums)) ?? 0,
      scoringBits: mean(parties.map(({ bits, left }) => Math.max(0, bits - left.scoring))) ?? 0,
      sumsBound: mean(bounds),
      labelsAuc: bestGuess(labels),
    },
  };
}

async function exposures(step: string, { parties }: SchemeDisclosure, budget: AttackBudget): Promise<PartyExposure[]> {
  const found: PartyExposure[] = [];
  for (const [i, party] of parties.entries()) {
    const clock = budget.clock(`${step}: attacking ${party.name}`, parties.length - i);
    found.push(await exposureOf(party, clock, availableParallelism()));
  }
  return found;
}

function labelExposures(
  { labels, margins }: RecordedTraining,
  { parties, membership }: SchemeDisclosure,
): LabelExposure[] {
  const { membersAreSent } = membership;
  return parties.map(({ name, transcript, instances }) => ({
    party: name,
    membersAreSent,
    guess: membersAreSent ? margins && guessLabels(transcript, labels, instances, margins, knownLabels) : null,
  }));
}
