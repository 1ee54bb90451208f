/**
 * The work of `tandem vet` between companies: one job, in which every passive party is asked about the root of one tree
 * (protocol/vetting.ts). To the queue, the policy and the budgets of a passive party it is a job like any other. No
 * process resumes what another has begun: the same command begins anew.
 */
import { join } from "node:path";
import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import { codecWith, resolveParameters } from "../../base/parameters/parameters.ts";
import { rowsWhere } from "../../base/rows/row-numbers.ts";
import { sourceIn } from "../../data/sources/registry.ts";
import { objectiveFor } from "../../gbdt/objective/objectives.ts";
import { trainingParameters, type TrainingParameters } from "../../gbdt/parameters/training-parameters.ts";
import { oneHotBelow } from "../../gbdt/vet/column-bins.ts";
import { formsOf, type PrivacyParameters } from "../../privacy/defences/defences.ts";
import type { Emit } from "../../record/events.ts";
import { noteVetting, type VettingLine } from "../../record/vetting-log.ts";
import type { Vetting } from "../../record/vetting/vetting.ts";
import { vettingResolutionBits } from "../../protocol/vetting.ts";
import type { ActiveConfig } from "../config/config.ts";
import { stabilityOfOthers } from "../tables/other-rows.ts";
import { vettingOf } from "../vetting-result.ts";
import { type Attempt, type AttemptTerms, JobAttempts, type JobWork, type PreparedJob } from "./attempts.ts";
import type { BegunJob } from "./checkpoints.ts";
import { recorded } from "./run.ts";
import { type JobTables, readActiveTables, ReadTables } from "./tables.ts";
import { type ActiveWorld, realWorld } from "./world.ts";

/** What a vetting trains with: one root, whose gradients are labels. */
export function vettingTraining(binsMax: number): TrainingParameters {
  return resolveParameters(trainingParameters, {
    objective: "binary:logistic",
    num_round: 1,
    max_depth: 1,
    max_bin: binsMax,
    enable_categorical: true,
    max_cat_to_onehot: oneHotBelow,
  });
}

/**
 * The job of a vetting, from the config of a training job: its parties, data, scheme and defences.
 * @throws TandemError USAGE for labels, weights or defences that a vetting has no use for
 */
export function vettingConfig(given: ActiveConfig, name: string, binsMax: number): ActiveConfig {
  const { data, job, output } = given;
  const { kind, name: objective } = objectiveFor(job.training.objective);
  if (kind !== "binary")
    throw new TandemError(
      "USAGE",
      `a vetting needs labels of two classes, and the config's objective is ${objective}. Give the file a column ` +
        "that has them, such as 'amount above 1000', name it as data.label, and set objective: binary:logistic",
    );
  if (data.weight !== undefined)
    throw new TandemError("USAGE", "a vetting counts people, and does not weigh them: leave data.weight out");
  const privacy = withSums(job.privacy);
  const { id, label, positive, features, missing, categorical, normalise, duplicates, format, header } = data;
  const kept = { id, label, positive, features, missing, categorical, normalise, duplicates, format, header };
  return {
    ...given,
    data: { ...kept, ...sourceIn(data), monotone_constraints: {}, interaction_constraints: {} },
    warm_start: undefined,
    compare_alone: false,
    job: {
      ...job,
      name,
      privacy,
      vetting: true,
      start: null,
      interactionGroups: "",
      training: vettingTraining(binsMax),
      codec: codecWith({ resolution_bits: vettingResolutionBits }),
    },
    // There is no model that could be verified.
    output: { ...output, verifiable: false, transcript: false },
  };
}

/**
 * A vetting needs the sums of every column: a preset takes its form by noise.
 * @throws TandemError USAGE for hidden sums without such a preset
 */
function withSums(privacy: PrivacyParameters): PrivacyParameters {
  if (!privacy.hidden_sums) return privacy;
  const [byNoise] = formsOf(privacy.privacy);
  if (byNoise.answer_noise > 0) return { ...privacy, hidden_sums: false, answer_noise: byNoise.answer_noise };
  throw new TandemError(
    "USAGE",
    "a vetting needs the sums of every column, which hidden_sums keeps from this party. Set privacy.hidden_sums to " +
      "false; answer_noise protects sums too, and a vetting can have it",
  );
}

/** @param config as vettingConfig makes it @throws TandemError as training does */
export async function runVetting(
  config: ActiveConfig,
  emit: Emit,
  world: ActiveWorld = realWorld,
): Promise<{ readonly vetting: Vetting; readonly folder: string }> {
  const folder = join(config.output.directory, config.job.name);
  await world.ownFiles?.(config, emit);
  const release = await world.lock(folder);
  try {
    const notices: string[] = [];
    const read = new ReadTables(await readActiveTables(config, (words) => notices.push(words)));
    await world.storage.makeFolder(folder);
    const vetting = await recorded(config, emit, world, folder, async (tell, notes) => {
      for (const words of notices) tell({ type: "notice", party: config.name, words });
      const work = new VettingWork(config, read, folder, tell);
      const found = await new JobAttempts(config, read, work, tell, world).untilDone();
      for (const passive of found.others) {
        const columns = found.columns.filter(({ party }) => party === passive);
        const line: VettingLine = {
          kind: "revealed",
          at: found.madeAt,
          how: "vetting",
          active: config.name,
          passive,
          features: columns.length,
          names: columns.some(({ name }) => name !== null),
        };
        notes.own(line);
        noteVetting(config.output.directory, line);
      }
      await world.storage.write(join(folder, "vetting.json"), `${JSON.stringify(found)}\n`);
      tell({ type: "vetted", party: config.name, job: found.job, columns: found.columns.length });
      return found;
    });
    return { vetting, folder };
  } finally {
    await release();
  }
}

class VettingWork implements JobWork<Vetting> {
  readonly kind = "vetting";
  readonly folder: string;
  readonly folds = 0;
  readonly alignedPath = null;
  readonly advice = "a vetting begins anew with the same command";
  readonly treesDone = 0;
  readonly #config: ActiveConfig;
  readonly #read: ReadTables;
  readonly #emit: Emit;
  #begun: BegunJob | null = null;
  #stabilities: readonly (number | null)[] = [];

  constructor(config: ActiveConfig, read: ReadTables, folder: string, emit: Emit) {
    this.#emit = emit;
    this.#config = config;
    this.#read = read;
    this.folder = folder;
  }

  get whole(): TrainingParameters {
    return this.#config.job.training;
  }

  get begun(): BegunJob | null {
    return this.#begun;
  }

  async begin(job: BegunJob): Promise<void> {
    this.#begun = job;
  }

  checkRows({ rows }: JobTables): void {
    checkBothClasses(rows.labels);
  }

  async prepared({ train, features }: PreparedJob): Promise<void> {
    const { table } = this.#read.tables[0].rows;
    const common = new Set(Array.from({ length: train.ids.length }, (_, row) => train.ids.at(row)));
    const rows = rowsWhere(table.ids.length, (row) => common.has(table.ids.at(row)));
    this.#stabilities = stabilityOfOthers(features, { table, rows });
  }

  attempt({ prepared, keep }: AttemptTerms): Attempt<Vetting> {
    const { features, rows, config } = prepared;
    const { name, job, data } = config;
    return {
      job: {},
      observer: {},
      run: async (role) => {
        const peers = await role.vet();
        await keep();
        await role.finish();
        for (const { peer, ledger } of role.exchanges) this.#emit({ type: "ledger", party: name, peer, ledger });
        const own = { party: name, features, stabilities: this.#stabilities, labels: rows.labels };
        return vettingOf(own, peers, {
          job: job.name,
          label: data.label,
          binsMax: job.training.max_bin,
          noise: job.privacy.answer_noise,
          now: Date.now(),
        });
      },
    };
  }
}

/** @throws TandemError LABEL_INVALID */
export function checkBothClasses(labels: Float64Array): void {
  assert(labels.length > 0, "there are people");
  if (labels.some((label) => label !== labels[0])) return;
  throw new TandemError(
    "LABEL_INVALID",
    `a vetting compares people with label 1 and people with label 0, and all ${labels.length} have ${labels[0]}`,
  );
}
