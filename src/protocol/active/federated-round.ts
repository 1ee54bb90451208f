/** One round of boosting over several parties: trees that share their gradients, which are encrypted once. */
import { nextSlice } from "../../base/scheduling/event-loop-slice.ts";
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import type { RealGradients } from "../../base/gradients/real-gradients.ts";
import { quantise } from "../../codec/batch-codec.ts";
import { gradientLayout } from "../../codec/gradient-layout.ts";
import type { GradientLayout } from "../../codec/layout.ts";
import { noiseIn } from "../job-parameters.ts";
import type { BoostingMonitor } from "../../gbdt/boost/boosting-monitor.ts";
import type { BoostingTask } from "../../gbdt/boost/boosting-task.ts";
import { ColumnSampler, columnRatesOf } from "../../gbdt/boost/column-sampling.ts";
import type { Turn } from "../../gbdt/boost/fold-turns.ts";
import { endsLayer } from "../../gbdt/boost/layers.ts";
import { sampleRows } from "../../gbdt/boost/row-sampling.ts";
import { addLeafWeights, growParametersOf } from "../../gbdt/boost/train.ts";
import type { GrownTree } from "../../gbdt/tree/grow.ts";
import type { Tree } from "../../gbdt/tree/tree.ts";
import type { CandidateRows } from "../../scheme/candidates/candidate-rows.ts";
import type { GradientChunk } from "../../scheme/scheme.ts";
import { bitmapFrom } from "../../wire/bitmap.ts";
import { Broadcast } from "./broadcast.ts";
import { BusyClock } from "./busy-clock.ts";
import { type ActiveRule, growFederatedTree, type TreeTask } from "./federated-tree.ts";
import type { ActiveJob, PhaseTimesMs, RoundMetrics, StoredRound } from "./job.ts";
import type { PeerSession } from "./peer-session.ts";

/** Chunks of gradients that may wait for a slow party. */
const chunksAhead = 4;

/** Which round it is, and where its layer began. */
export type RoundTurn = Pick<Turn, "round" | "firstTree" | "isLast" | "layerMargins" | "training">;

export class FederatedRound {
  readonly #job: ActiveJob;
  readonly #task: BoostingTask;
  readonly #sessions: readonly PeerSession[];
  readonly #isConstrained: boolean;
  readonly #encrypting: BusyClock;
  readonly #waiting: BusyClock;
  readonly #decrypting: BusyClock;
  /** The tree under way. */
  #growing = 0;

  /**
   * @param sessions empty in a round that the active party grows alone
   * @param isConstrained some party has monotone constraints
   */
  constructor(job: ActiveJob, task: BoostingTask, sessions: readonly PeerSession[], isConstrained: boolean) {
    this.#job = job;
    this.#task = task;
    this.#sessions = sessions;
    this.#isConstrained = isConstrained;
    const edge = (phase: "encrypt" | "decrypt") => (began: boolean) =>
      job.observer.phase?.({ party: job.name, phase, began, tree: this.#growing, level: 0 });
    this.#encrypting = new BusyClock(job.now, edge("encrypt"));
    this.#waiting = new BusyClock(job.now);
    this.#decrypting = new BusyClock(job.now, edge("decrypt"));
  }

  /** Milliseconds of the round. */
  get spent(): Pick<PhaseTimesMs, "encrypt" | "aggregate" | "decrypt"> {
    const decrypt = this.#decrypting.totalMs;
    const aggregate = Math.max(0, this.#waiting.totalMs - decrypt);
    return { encrypt: this.#encrypting.totalMs, aggregate, decrypt };
  }

  /**
   * @param margins move on with every tree; gradients are those of the layer's beginning
   * @param keep called when all passive parties have stored the round's trees, and early stopping has seen it
   */
  async grow(
    { round, firstTree, isLast, layerMargins, training }: RoundTurn,
    monitor: BoostingMonitor,
    margins: Float64Array,
    keep: (round: StoredRound) => Promise<void>,
  ): Promise<RoundMetrics | null> {
    const { observer, training: agreed } = this.#job;
    this.#growing = firstTree;
    observer.treeBegan(firstTree);
    const { sample, ...real } = sampleRows(
      training,
      round,
      this.#task.gradients(layerMargins),
      this.#task.trainingRows,
    );
    const layout = layoutFor(this.#job, real);
    await nextSlice();
    const gradients = quantise(layout, real.values);
    await nextSlice();
    const columnRate = training.colsample_bytree === agreed.colsample_bytree ? 0 : training.colsample_bytree;
    const gradientsTaken = this.#sendGradients(firstTree, layout, gradients, sample, !isLast, columnRate);
    const sampler = new ColumnSampler(columnRatesOf(training), training.seed, this.#job.samplingSecret ?? "");
    // What is offered at the root changes from tree to tree where columns are drawn, or thresholds are limited.
    const takesAll = sampler.takesAll && agreed.colsample_bytree === 1;
    const isSameRoot = this.#job.scheme.hidden === null && takesAll && (this.#job.defences?.max_thresholds ?? 0) === 0;
    const sharedRoot: CandidateRows[] | null = isSameRoot ? [] : null;
    const shared = { sampler, gradients, sample, layout, sharedRoot, gradientsTaken };
    const trees: Tree<ActiveRule>[] = [];
    const leaves: Uint32Array[] = [];
    let evaluated: RoundMetrics | null = null;
    for (const [i, outputs] of this.#task.treeOutputs.entries()) {
      const tree = firstTree + i;
      this.#growing = tree;
      if (i > 0) observer.treeBegan(tree);
      const grown = this.#task.withOwnLeaves(
        await this.#growTree({ ...shared, tree, outputs, parameters: growParametersOf(training) }),
        outputs,
        margins,
        sample,
      );
      addLeafWeights(margins, this.#task.outputCount, tree, grown.tree, grown.leaves);
      trees.push(grown.tree);
      leaves.push(grown.leaves);
      await nextSlice();
      const isLastOfRound = i + 1 === this.#task.treeOutputs.length;
      const isLastOfLayer = isLastOfRound && endsLayer(round, training);
      const validation = isLastOfLayer ? await monitor.afterRound(margins) : null;
      if (isLastOfRound) await keep({ trees, leaves });
      await nextSlice();
      const evaluate = async (): Promise<RoundMetrics> =>
        (evaluated = { train: await monitor.onTraining(margins), validation });
      await observer.treeFinished(tree, margins, evaluate, grown.tree);
      await nextSlice();
    }
    return evaluated;
  }

  /** Settles per session when the party has taken all gradients. */
  #sendGradients(
    firstTree: number,
    layout: GradientLayout,
    gradients: QuantisedGradients,
    sample: Uint32Array | null,
    moreFollow: boolean,
    columnRate: number,
  ): readonly Promise<void>[] {
    const { scheme } = this.#job;
    const made = timed(scheme.gradients(layout, gradients, sample), this.#encrypting);
    const chunks = new Broadcast(made, chunksAhead);
    const readers = this.#sessions.map(() => chunks.reader());
    const sampled = scheme.hidden === null ? rowBitmap(sample, gradients.instanceCount) : new Uint8Array(0);
    const taken = this.#sessions.map((session, i) => session.sendGradients(firstTree, sampled, readers[i], columnRate));
    if (taken.length > 0 && moreFollow) {
      const expect = (): void => scheme.expectTree(layout, sample?.length ?? gradients.instanceCount);
      void Promise.allSettled(taken).then(expect);
    }
    return taken;
  }

  async #growTree(
    own: Pick<
      TreeTask,
      | "tree"
      | "outputs"
      | "parameters"
      | "sampler"
      | "gradients"
      | "sample"
      | "layout"
      | "sharedRoot"
      | "gradientsTaken"
    >,
  ): Promise<GrownTree<ActiveRule>> {
    const { features, training, subtraction, observer, scheme, defences, interactionGroups = "" } = this.#job;
    const alarmed = new Set<string>();
    const grown = await growFederatedTree({
      ...own,
      features,
      subtraction,
      sessions: this.#sessions,
      hidden: scheme.hidden,
      tellsPlaces: !own.sampler.isFixedPerTree || (defences?.max_thresholds ?? 0) > 0 || interactionGroups !== "",
      isConstrained: this.#isConstrained,
      isGrouped: interactionGroups !== "",
      categoryPeopleMin: training.min_category_people,
      onAlarm: (party, ...what) => {
        if (alarmed.has(party)) return; // one of a tree is enough
        alarmed.add(party);
        observer.alarm?.(party, ...what);
      },
      waiting: this.#waiting,
      decrypting: this.#decrypting,
    });
    scheme.hidden?.endTree(own.tree);
    await Promise.all(this.#sessions.map((session) => session.finishTree(own.tree)));
    return grown;
  }
}

export function layoutFor(
  { codec, training, defences, scheme }: Pick<ActiveJob, "codec" | "training" | "defences" | "scheme">,
  gradients: RealGradients,
): GradientLayout {
  const noise = noiseIn(training, codec, defences);
  return gradientLayout(codec, scheme.plaintextBitsMax, gradients, noise, noise !== null || scheme.hidden !== null);
}

/** Counts the time in which the next chunk is being made. */
async function* timed(chunks: AsyncIterable<GradientChunk>, clock: BusyClock): AsyncGenerator<GradientChunk> {
  const iterator = chunks[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await clock.during(() => iterator.next());
    if (done === true) return;
    yield value;
  }
}

/** Empty for null. */
export function rowBitmap(rows: Uint32Array | null, instanceCount: number): Uint8Array {
  if (rows === null) return new Uint8Array(0);
  const isNamed = new Uint8Array(instanceCount);
  for (const row of rows) isNamed[row] = 1;
  return bitmapFrom(instanceCount, (row) => isNamed[row] === 1);
}
