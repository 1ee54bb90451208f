/**
 * Runs the cells that have not been run. Those of a group take turns (A B A B, not A A B B), since the machine's speed
 * drifts. What is finished is on disk before the next run starts.
 */
import { assert } from "../../base/assert.ts";
import type { Model } from "../../gbdt/tree/model.ts";
import type { PartyEvent } from "../../record/events.ts";
import { BoostingTask } from "../../gbdt/boost/boosting-task.ts";
import { gradientLayout } from "../../codec/gradient-layout.ts";
import type { CostModel } from "../../scheme/cost-model.ts";
import { chosenScheme, plaintextBitsOf } from "../../scheme/registry.ts";
import { estimateJob } from "../simulate/estimate.ts";
import { thisCommit } from "../bench/machine.ts";
import {
  type CellOutcome,
  cellCodec,
  cellInOnePlace,
  cellName,
  type CellSpec,
  cellSpeed,
  cellTraining,
  runCell,
} from "./cell.ts";
import { type CellContext, cellDigest, type CellStore } from "./cell-store.ts";
import { type CreditTable, type CutTable, cutCreditTable } from "./credit-tables.ts";
import { MeasuredCells } from "./measured-cells.ts";
import type { DatasetName } from "./paper-datasets.ts";

/** How many runs are to be made, how many are on disk, and how long it will take. */
export interface RunPlan {
  readonly toRun: number;
  readonly finished: number;
  readonly seconds: number;
}

export interface RunProgress {
  /** Before anything runs. */
  planned(plan: RunPlan): void;
  started(name: string, seconds: number): void;
  event(event: PartyEvent): void;
  finished(name: string, seconds: number): void;
}

export interface CellRunner {
  readonly store: CellStore;
  readonly tables: ReadonlyMap<DatasetName, CreditTable>;
  readonly programDigest: string;
  readonly seed: number;
}

/** Runs a cell once. */
export type RunCell = typeof runCell;

/** A run that is still to be made. */
interface PendingRun {
  readonly spec: CellSpec;
  readonly digest: string;
  readonly seconds: number;
}

/** What runCells would run. */
export async function planCells(groups: readonly (readonly CellSpec[])[], runner: CellRunner): Promise<RunPlan> {
  return planOf(await findWork(groups, runner, new CutCache(runner)));
}

/** @param groups cells that are compared with each other stand in one group */
export async function runCells(
  groups: readonly (readonly CellSpec[])[],
  runner: CellRunner,
  progress: RunProgress,
  run: RunCell = runCell,
): Promise<MeasuredCells> {
  const cuts = new CutCache(runner);
  const work = await findWork(groups, runner, cuts);
  progress.planned(planOf(work));
  const { outcomes, specs, pending } = work;
  const commit = thisCommit();
  for (const { spec, digest, seconds } of pending) {
    const name = cellName(spec);
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
  const measured = new MeasuredCells();
  for (const [name, spec] of specs) measured.add(spec, outcomes.get(name) ?? []);
  return measured;
}

/** What there is to do, and what has been done, by the names of cells. */
interface Work {
  readonly specs: ReadonlyMap<string, CellSpec>;
  readonly outcomes: Map<string, CellOutcome[]>;
  readonly pending: readonly PendingRun[];
}

function planOf({ outcomes, pending }: Work): RunPlan {
  return {
    toRun: pending.length,
    finished: [...outcomes.values()].flat().length,
    seconds: pending.reduce((sum, { seconds }) => sum + seconds, 0),
  };
}

/**
 * Goes through the groups in turns; a cell that several groups ask for is run as often as the most demanding one wants.
 */
async function findWork(groups: readonly (readonly CellSpec[])[], runner: CellRunner, cuts: CutCache): Promise<Work> {
  const specs = new Map<string, CellSpec>();
  const outcomes = new Map<string, CellOutcome[]>();
  const costs = new Map<number, CostModel>();
  const counts = new Map<string, number>();
  const pending: PendingRun[] = [];
  for (const group of groups) {
    for (let round = 0; round < Math.max(...group.map(({ repeats }) => repeats)); round++) {
      for (const spec of group) {
        const name = cellName(spec);
        const digest = cellDigest(spec, contextOf(spec, runner));
        if (!specs.has(name)) {
          specs.set(name, spec);
          const found = await runner.store.read(spec, digest);
          outcomes.set(name, [...found]);
          counts.set(name, found.length);
        }
        if (round >= spec.repeats || (counts.get(name) ?? 0) > round) continue;
        counts.set(name, (counts.get(name) ?? 0) + 1);
        const known = costs.get(spec.keyBits) ?? (await chosenScheme(spec).scheme.costModel(spec));
        costs.set(spec.keyBits, known);
        pending.push({ spec, digest, seconds: predictedSeconds(spec, cuts.rows(spec), known) });
      }
    }
  }
  return { specs, outcomes, pending };
}

function contextOf(spec: CellSpec, { tables, programDigest, seed }: CellRunner): CellContext {
  return { dataDigest: tables.get(spec.dataset)?.digest ?? "", programDigest, seed };
}

/** The cost model's guess at the job, and its centralised twin's fraction of it. */
function predictedSeconds(spec: CellSpec, { train }: CutTable, costs: CostModel): number {
  const training = cellTraining(spec);
  const task = new BoostingTask(training, train[0].labels ?? new Float64Array(0));
  const layout = gradientLayout(cellCodec(spec), plaintextBitsOf(spec), task.gradients(task.startMargins()));
  return estimateJob({ train, training, speed: cellSpeed(spec), layout }, costs).wallSeconds;
}

/** Cut tables and centralised models, made once each. */
class CutCache {
  readonly #runner: CellRunner;
  readonly #rows = new Map<string, CutTable>();
  readonly #models = new Map<string, Promise<Model>>();

  constructor(runner: CellRunner) {
    this.#runner = runner;
  }

  rows({ dataset, trainRows, testRows }: CellSpec): CutTable {
    return kept(this.#rows, `${dataset}-${trainRows}-${testRows}`, () => {
      const table = this.#runner.tables.get(dataset);
      assert(table !== undefined, `the table ${dataset} is loaded`);
      return cutCreditTable(table, { train: trainRows, test: testRows }, this.#runner.seed);
    });
  }

  /** Neither key nor shortcuts touch the model. */
  onePlace(spec: CellSpec): Promise<Model> {
    return kept(this.#models, `${spec.dataset}-${spec.trainRows}-${spec.trees}-${spec.codec}`, () =>
      cellInOnePlace(spec, this.rows(spec)),
    );
  }
}

function kept<V>(cache: Map<string, V>, key: string, make: () => V): V {
  const value = cache.get(key) ?? make();
  cache.set(key, value);
  return value;
}
