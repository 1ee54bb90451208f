/**
 * The work of `tandem cv` and `tandem tune`: models whose rounds are interleaved in one job between companies. There is
 * one alignment, one key and one pool of obfuscators, and bins are cut once from all rows that take part. To a passive
 * party it is a job like any other, under the same policy. A process that ends begins anew: its models are not kept.
 */
import { join } from "node:path";
import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import { drawnGroups } from "../../data/drawn-groups.ts";
import { foldRows } from "../../data/split.ts";
import type { Turns } from "../../gbdt/boost/fold-turns.ts";
import type { TrainingParameters } from "../../gbdt/parameters/training-parameters.ts";
import { unusedParameters } from "../../gbdt/parameters/unused-parameters.ts";
import type { TrainingRows } from "../../gbdt/rows/training-rows.ts";
import type { Emit } from "../../record/events.ts";
import type { ActiveConfig } from "../config/config.ts";
import { type Attempt, type AttemptTerms, JobAttempts, type JobWork } from "./attempts.ts";
import type { BegunJob } from "./checkpoints.ts";
import { foldWords } from "./results.ts";
import { type JobTables, readActiveTables, ReadTables, withClassesOf } from "./tables.ts";
import type { ActiveWorld } from "./world.ts";

/** The models of a job. */
export interface InterleavedModels<T extends Turns> {
  readonly folds: number;
  /** What the job does. */
  readonly kind: "cross-validation" | "search";
  /** What the job's own limits are: of a cross-validation its parameters, of a search what all trials keep within. */
  readonly training: TrainingParameters;
  /** The same with the rounds of all models. */
  readonly whole: TrainingParameters;
  readonly turns: (rows: TrainingRows, folds: readonly Uint32Array[]) => T;
  /** After each round of a model. */
  readonly onTurn?: (turns: T) => void;
}

/**
 * @param modelsOf what is trained with these parameters: labels may say how many classes there are
 * @throws TandemError as training does
 */
export async function trainInterleaved<T extends Turns>(
  given: ActiveConfig,
  modelsOf: (training: TrainingParameters) => InterleavedModels<T>,
  emit: Emit,
  world: ActiveWorld,
): Promise<{ readonly turns: T; readonly instances: number }> {
  const noun = `a ${modelsOf(given.job.training).kind}`;
  if (given.data.validation_path !== undefined)
    throw new TandemError("USAGE", `${noun} holds each fold back in turn; leave data.validation_path out`);
  if (given.warm_start !== undefined)
    throw new TandemError("USAGE", `${noun} begins every model anew; leave warm_start out`);
  const notice = (words: string): void => emit({ type: "notice", party: given.name, words });
  unusedParameters(given.job.training).forEach(notice);
  const read = new ReadTables(await readActiveTables(given, notice));
  const { data, job, ...others } = withClassesOf(given, read.tables);
  const models = modelsOf(job.training);
  const config = {
    ...others,
    // Each fold is the validation set of its model.
    data: { ...data, validation_fraction: undefined },
    job: { ...job, training: models.training },
  };
  return new JobAttempts(config, read, new InterleavedTraining(config, models, emit), emit, world).untilDone();
}

class InterleavedTraining<T extends Turns> implements JobWork<{ readonly turns: T; readonly instances: number }> {
  readonly alignedPath = null;
  readonly #config: ActiveConfig;
  readonly #models: InterleavedModels<T>;
  readonly #emit: Emit;
  #begun: BegunJob | null = null;
  #turns: T | null = null;

  constructor(config: ActiveConfig, models: InterleavedModels<T>, emit: Emit) {
    this.#config = config;
    this.#models = models;
    this.#emit = emit;
  }

  get folder(): string {
    return join(this.#config.output.directory, this.#config.job.name);
  }

  get kind(): InterleavedModels<T>["kind"] {
    return this.#models.kind;
  }

  get whole(): TrainingParameters {
    return this.#models.whole;
  }

  get folds(): number {
    return this.#models.folds;
  }

  get advice(): string {
    return `a ${this.kind} begins anew with the same command`;
  }

  get begun(): BegunJob | null {
    return this.#begun;
  }

  get treesDone(): number {
    return this.#turns?.treesDone ?? 0;
  }

  async begin(job: BegunJob): Promise<void> {
    this.#begun = job;
  }

  /** Test rows stay out of it altogether. */
  checkRows({ rows }: JobTables): void {
    const { name, job, data } = this.#config;
    const { folds: count, turns } = this.#models;
    const seed = data.seed ?? job.training.seed;
    const folds = Array.from({ length: count }, (_, fold) =>
      drawnGroups(rows.columns, rows.count, (units) => foldRows(units, count, fold, seed).test),
    );
    const absent = foldWords(job.training, rows, folds);
    if (absent !== null) this.#emit({ type: "notice", party: name, words: absent });
    this.#turns = turns(rows, folds);
  }

  attempt({ prepared, keep }: AttemptTerms): Attempt<{ readonly turns: T; readonly instances: number }> {
    const turns = this.#turns;
    assert(turns !== null, "rows are checked before an attempt");
    return {
      job: { folds: turns },
      observer: {
        treeFinished: async () => {
          await keep();
          this.#models.onTurn?.(turns);
        },
      },
      run: async (role) => {
        await role.crossValidate(turns);
        await role.finish();
        return { turns, instances: prepared.rows.count };
      },
    };
  }
}
