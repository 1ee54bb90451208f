/**
 * `tandem audit` on one table: trains the job in one place, plays every attack on what each party would have seen, and
 * says what it came to. The owner of all data runs it, before there is a contract.
 */
import { availableParallelism } from "node:os";
import type { AuditResult, LabelExposure, PartyExposure, WhatIf } from "../../privacy/attack/audit-result.ts";
import { guessLabels } from "../../privacy/attack/cells.ts";
import { exposureOf } from "../../privacy/attack/exposure.ts";
import type { AttackClock } from "../../privacy/attack/sums.ts";
import { prepareSimulation } from "../simulate/prepare-simulation.ts";
import type { SimulateOptions } from "../simulate/simulate-options.ts";
import { defences } from "./defences.ts";
import { type AuditedJob, type RecordedTraining, trainRecorded } from "./recorded-training.ts";

/** Labels that a passive party is taken to know, in its second guess. */
const knownLabels = 200;

export interface AuditOptions {
  /** Time for attacks on sums, all together. */
  readonly seconds: number;
  /** Train again with each defence. */
  readonly whatIf: boolean;
  /** @param share of the step that is done @param secondsLeft at most, of all attacks */
  readonly onProgress: (step: string, share: number, secondsLeft: number) => void;
}

/** @throws TandemError as simulate */
export async function auditSimulation(options: SimulateOptions, audit: AuditOptions): Promise<AuditResult> {
  const prepared = await prepareSimulation(options);
  const { train, test, validation, training, codec, speed, privacy, job } = prepared;
  const asItIs: AuditedJob = {
    names: [job.active, ...job.passives].map(({ name }) => name),
    train,
    test,
    validation,
    validationFraction: options.validationFraction,
    training,
    codec,
    scheme: options.scheme,
    keyBits: options.keyBits,
    skipBin: speed.skip_bin,
    defences: privacy,
  };
  const others = audit.whatIf
    ? defences.flatMap(({ name, change }) => {
        const changed = change(asItIs);
        return changed === null ? [] : [{ name, job: changed }];
      })
    : [];
  const budget = new Budget(audit, 1 + others.filter(({ job: changed }) => !isSameTraining(asItIs, changed)).length);
  const first = await attacked("as it is", asItIs, budget);
  const whatIf: WhatIf[] = [first.row];
  for (const { name, job: changed } of others) {
    const isTrainedAlike = isSameTraining(asItIs, changed);
    whatIf.push(
      isTrainedAlike
        ? { ...first.row, name, scoringBits: first.outcomeBits }
        : (await attacked(name, changed, budget)).row,
    );
  }
  return { isEstimate: false, parties: first.parties, labels: first.labels, whatIf: audit.whatIf ? whatIf : null };
}

/**
 * Masked scoring changes nothing about training: what that tells is known already. Hidden outcomes are of people of whom
 * nothing is asked here.
 */
function isSameTraining(a: AuditedJob, b: AuditedJob): boolean {
  const { masked_scoring: _a, hidden_outcomes: _hiddenA, ...defencesA } = a.defences;
  const { masked_scoring: masked, hidden_outcomes: _hiddenB, ...defencesB } = b.defences;
  return masked && a.training === b.training && JSON.stringify(defencesA) === JSON.stringify(defencesB);
}

interface Attacked {
  readonly parties: readonly PartyExposure[];
  readonly labels: readonly LabelExposure[];
  readonly row: WhatIf;
  /** Told by outcomes in training, mean over the parties. */
  readonly outcomeBits: number;
}

async function attacked(name: string, job: AuditedJob, budget: Budget): Promise<Attacked> {
  budget.tell(`${name}: training`, 0);
  const trained = await trainRecorded(job);
  const parties: PartyExposure[] = [];
  for (const [i, party] of trained.parties.entries()) {
    const clock = budget.clock(`${name}: what can be learnt of ${party.name}`, trained.parties.length - i);
    parties.push(await exposureOf(party, clock, availableParallelism()));
  }
  budget.jobEnded();
  const labels = trained.parties.map((party): LabelExposure => ({ party: party.name, guess: guessOf(trained, party) }));
  const mean = (values: readonly number[]): number | null =>
    values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
  const bounds = parties.flatMap(({ columns }) => columns.flatMap(({ sumsBound }) => sumsBound ?? []));
  return {
    parties,
    labels,
    outcomeBits: mean(parties.map(({ bits, left }) => bits - left.outcomes)) ?? 0,
    row: {
      name,
      testAuc: trained.testAuc,
      certain: mean(parties.map(({ certain }) => certain.sums)) ?? 0,
      scoringBits: mean(parties.map(({ bits, left }) => Math.max(0, bits - left.scoring))) ?? 0,
      sumsBound: mean(bounds),
      labelsAuc: mean(
        labels.flatMap(({ guess }) => (guess ? [Math.max(guess.without.auc, guess.withLabels.auc)] : [])),
      ),
    },
  };
}

function guessOf(
  { labels, margins }: RecordedTraining,
  party: RecordedTraining["parties"][number],
): LabelExposure["guess"] {
  return margins && guessLabels(party.transcript, labels, party.people, margins, knownLabels);
}

/** Hands out the time: the same for every job that is left, and within a job for every party. */
class Budget {
  readonly #audit: AuditOptions;
  #jobs: number;
  #left: number;

  constructor(audit: AuditOptions, jobs: number) {
    this.#audit = audit;
    this.#jobs = jobs;
    this.#left = audit.seconds * 1000;
  }

  tell(step: string, share: number): void {
    this.#audit.onProgress(step, share, Math.max(0, this.#left) / 1000);
  }

  jobEnded(): void {
    this.#jobs--;
  }

  clock(step: string, partiesLeft: number): AttackClock {
    const given = this.#left / this.#jobs / partiesLeft;
    const began = performance.now();
    let spent = 0;
    const note = (): void => {
      const now = performance.now() - began;
      this.#left -= now - spent;
      spent = now;
    };
    return {
      left: () => Math.max(0, given - (performance.now() - began)),
      progress: (share) => {
        note();
        this.tell(step, share);
      },
    };
  }
}
