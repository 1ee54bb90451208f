/**
 * Runs the trials that have not been run. Those of a group are interleaved (A B A B, not A A B B), since the machine's
 * speed drifts. What is finished is on disk before the next one starts.
 */
import { assert } from "../../src/base/assert.ts";
import type { Model } from "../../src/gbdt/tree/model.ts";
import type { PartyEvent } from "../../src/record/events.ts";
import { BoostingTask } from "../../src/gbdt/boost/boosting-task.ts";
import type { CostModel } from "../../src/scheme/cost-model.ts";
import { schemeNamed } from "../../src/scheme/registry.ts";
import { estimateJob } from "../../src/simulate/estimate.ts";
import { thisCommit } from "../bench/machine.ts";
import { type TrialOutcome, trialJob, trialInOnePlace, trialName, type TrialSpec, runTrial } from "./trial.ts";
import { type TrialContext, trialDigest, type TrialStore } from "./trial-store.ts";
import { type CreditTable, type CutTable, cutCreditTable } from "./credit-tables.ts";
import { MeasuredTrials } from "./measured-trials.ts";
import type { DatasetName } from "./paper-datasets.ts";
import { rowsOfTable } from "../../src/party/tables/table-rows.ts";
import { layoutOfJob } from "../../src/party/job-grid.ts";

/** How many repeats are to be made, how many are on disk, and how long it will take. */
export interface TrialPlan {
  readonly toRun: number;
  readonly finished: number;
  readonly seconds: number;
}

export interface TrialProgress {
  /** Before anything runs. */
  planned(plan: TrialPlan): void;
  started(name: string, seconds: number): void;
  event(event: PartyEvent): void;
  finished(name: string, seconds: number): void;
}

export interface TrialRunner {
  readonly store: TrialStore;
  readonly tables: ReadonlyMap<DatasetName, CreditTable>;
  readonly programDigest: string;
  readonly seed: number;
}

/** Runs a trial once. */
export type RunTrial = typeof runTrial;

/** A repeat that is still to be made. */
interface PendingRepeat {
  readonly spec: TrialSpec;
  readonly digest: string;
  readonly seconds: number;
}

/** What runTrials would run. */
export async function planTrials(groups: readonly (readonly TrialSpec[])[], runner: TrialRunner): Promise<TrialPlan> {
  return planOf(await findWork(groups, runner, new CutCache(runner)));
}

/** @param groups trials that are compared with each other stand in one group */
export async function runTrials(
  groups: readonly (readonly TrialSpec[])[],
  runner: TrialRunner,
  progress: TrialProgress,
  run: RunTrial = runTrial,
): Promise<MeasuredTrials> {
  const cuts = new CutCache(runner);
  const work = await findWork(groups, runner, cuts);
  progress.planned(planOf(work));
  const { outcomes, specs, pending } = work;
  const commit = thisCommit();
  for (const { spec, digest, seconds } of pending) {
    const name = trialName(spec);
    const done = outcomes.get(name) ?? [];
    progress.started(name, seconds);
    const started = performance.now();
    const outcome = await run(spec, cuts.rows(spec), await cuts.onePlace(spec), commit, (event) =>
      progress.event(event),
    );
    done.push(outcome);
    outcomes.set(name, done);
    await runner.store.write(spec, digest, done);
    progress.finished(name, (performance.now() - started) / 1000);
  }
  const measured = new MeasuredTrials();
  for (const [name, spec] of specs) measured.add(spec, outcomes.get(name) ?? []);
  return measured;
}

/** What there is to do, and what has been done, by the names of trials. */
interface Work {
  readonly specs: ReadonlyMap<string, TrialSpec>;
  readonly outcomes: Map<string, TrialOutcome[]>;
  readonly pending: readonly PendingRepeat[];
}

function planOf({ outcomes, pending }: Work): TrialPlan {
  return {
    toRun: pending.length,
    finished: [...outcomes.values()].flat().length,
    seconds: pending.reduce((sum, { seconds }) => sum + seconds, 0),
  };
}

/** Goes through the groups in turns. A trial that several groups ask for is run as often as one of them wants. */
async function findWork(groups: readonly (readonly TrialSpec[])[], runner: TrialRunner, cuts: CutCache): Promise<Work> {
  const specs = new Map<string, TrialSpec>();
  const outcomes = new Map<string, TrialOutcome[]>();
  const costs = new Map<number, CostModel>();
  const counts = new Map<string, number>();
  const pending: PendingRepeat[] = [];
  for (const group of groups) {
    for (let repeat = 0; repeat < Math.max(...group.map(({ repeats }) => repeats)); repeat++) {
      for (const spec of group) {
        const name = trialName(spec);
        const digest = trialDigest(spec, contextOf(spec, runner));
        if (!specs.has(name)) {
          specs.set(name, spec);
          const found = await runner.store.read(spec, digest);
          outcomes.set(name, [...found]);
          counts.set(name, found.length);
        }
        if (repeat >= spec.repeats || (counts.get(name) ?? 0) > repeat) continue;
        counts.set(name, (counts.get(name) ?? 0) + 1);
        const known = costs.get(spec.keyBits) ?? (await schemeNamed(trialJob(spec).scheme).costModel(spec));
        costs.set(spec.keyBits, known);
        pending.push({ spec, digest, seconds: predictedSeconds(spec, cuts.rows(spec), known) });
      }
    }
  }
  return { specs, outcomes, pending };
}

function contextOf(spec: TrialSpec, { tables, programDigest, seed }: TrialRunner): TrialContext {
  return { dataDigest: tables.get(spec.dataset)?.digest ?? "", programDigest, seed };
}

/** The cost model's guess at the job, and its centralised twin's fraction of it. */
function predictedSeconds(spec: TrialSpec, { train }: CutTable, costs: CostModel): number {
  const job = trialJob(spec);
  const task = new BoostingTask(job.training, rowsOfTable(train[0]));
  const layout = layoutOfJob(job, task.gradients(task.startMargins()));
  return estimateJob({ train, job, layout }, costs).wallSeconds;
}

/** Cut tables and centralised models, made once each. */
class CutCache {
  readonly #runner: TrialRunner;
  readonly #rows = new Map<string, CutTable>();
  readonly #models = new Map<string, Promise<Model>>();

  constructor(runner: TrialRunner) {
    this.#runner = runner;
  }

  rows({ dataset, trainRows, testRows }: TrialSpec): CutTable {
    return kept(this.#rows, `${dataset}-${trainRows}-${testRows}`, () => {
      const table = this.#runner.tables.get(dataset);
      assert(table !== undefined, `the table ${dataset} is loaded`);
      return cutCreditTable(table, { train: trainRows, test: testRows }, this.#runner.seed);
    });
  }

  /** Neither key nor shortcuts touch the model. */
  onePlace(spec: TrialSpec): Promise<Model> {
    return kept(this.#models, `${spec.dataset}-${spec.trainRows}-${spec.trees}-${spec.codec}`, () =>
      trialInOnePlace(spec, this.rows(spec)),
    );
  }
}

function kept<V>(cache: Map<string, V>, key: string, make: () => V): V {
  const value = cache.get(key) ?? make();
  cache.set(key, value);
  return value;
}
