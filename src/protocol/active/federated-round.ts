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
import { endsLayer, layerOf } from "../../gbdt/boost/layers.ts";
import { sampleRows } from "../../gbdt/boost/row-sampling.ts";
import { addLeafWeights, growParametersOf } from "../../gbdt/boost/train.ts";
import { type GrownTree, rootId } from "../../gbdt/tree/grow.ts";
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
export type RoundTurn = Pick<Turn, "round" | "firstTree" | "isLast" | "layerMargins" | "training" | "dart">;

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
   * While the passive parties end its last tree, and while it is stored, whoever comes next may compute.
   * @param margins move on with every tree, or with dart when a layer ends; gradients are those of its beginning
   * @param keep called when all passive parties have stored the round's trees, and early stopping has seen it
   * @param before settles when the round before this one is stored: nobody hears of this one earlier
   * @returns when the round is grown; `ended` settles when it is stored
   */
  async grow(
    { round, firstTree, isLast, layerMargins, training, dart }: RoundTurn,
    monitor: BoostingMonitor,
    margins: Float64Array,
    keep: (round: StoredRound) => Promise<void>,
    before: Promise<unknown>,
  ): Promise<{ readonly ended: Promise<RoundMetrics | null> }> {
    const { observer, training: agreed } = this.#job;
    this.#growing = firstTree;
    const learnt = dart === null ? layerMargins : await dart.learnt(layerOf(round, training), margins);
    const { sample, ...real } = sampleRows(training, round, this.#task.gradients(learnt), this.#task.rows.training);
    const layout = layoutFor(this.#job, real);
    await nextSlice();
    const gradients = quantise(layout, real.values);
    await nextSlice();
    const sealedRoot = this.#sealRoot(firstTree, gradients, sample);
    const columnRate = training.colsample_bytree === agreed.colsample_bytree ? 0 : training.colsample_bytree;
    const opened = heard(
      before.then(() => {
        observer.treeBegan(firstTree);
        return this.#sendGradients(firstTree, layout, gradients, sample, !isLast, columnRate);
      }),
    );
    const gradientsTaken = this.#sessions.map((_, i) => heard(opened.then((taken) => taken[i])));
    const sampler = new ColumnSampler(columnRatesOf(training), training.seed, this.#job.samplingSecret ?? "");
    // What is offered at the root changes from tree to tree where columns are drawn, or thresholds are limited.
    const takesAll = sampler.takesAll && agreed.colsample_bytree === 1;
    const isSameRoot = this.#job.scheme.hidden === null && takesAll && (this.#job.defences?.max_thresholds ?? 0) === 0;
    const sharedRoot: CandidateRows[] | null = isSameRoot ? [] : null;
    const shared = { sampler, gradients, sample, layout, sharedRoot, gradientsTaken };
    const [trees, leaves]: [Tree<ActiveRule>[], Uint32Array[]] = [[], []];
    const { treeOutputs, outputCount } = this.#task;
    let evaluated: RoundMetrics | null = null;
    const finish = async (
      tree: number,
      grown: GrownTree<ActiveRule>,
      validation: RoundMetrics["validation"],
    ): Promise<void> => {
      const evaluate = async (): Promise<RoundMetrics> =>
        (evaluated = { train: await monitor.onTraining(margins), validation });
      await observer.treeFinished(tree, margins, evaluate, grown.tree);
      await nextSlice();
    };
    for (const [i, outputs] of treeOutputs.entries()) {
      const tree = firstTree + i;
      this.#growing = tree;
      if (i > 0) observer.treeBegan(tree);
      const own = { tree, outputs, parameters: growParametersOf(training), sealedRoot: i === 0 ? sealedRoot : null };
      const found = await this.#growTree({ ...shared, ...own });
      await opened;
      const told = this.#finishTree(tree);
      const grown = this.#task.withOwnLeaves(found, outputs, dart === null ? margins : learnt, sample);
      if (dart === null) addLeafWeights(margins, outputCount, tree, grown.tree, grown.leaves);
      else dart.add(grown.tree, grown.leaves);
      trees.push(grown.tree);
      leaves.push(grown.leaves);
      await nextSlice();
      if (i + 1 === treeOutputs.length) {
        const isEnd = endsLayer(round, training);
        if (isEnd) await dart?.endLayer(margins);
        const validation = isEnd ? await monitor.afterRound(margins, dart?.weights) : null;
        const ending = async (): Promise<RoundMetrics | null> => {
          await told;
          await keep({ trees, leaves });
          await finish(tree, grown, validation);
          return evaluated;
        };
        return { ended: heard(ending()) };
      }
      await told;
      await finish(tree, grown, null);
    }
    return { ended: Promise.resolve(evaluated) };
  }

  /** The root's gradients, where nodes have their own, are made ahead: they depend on nothing else. */
  #sealRoot(tree: number, gradients: QuantisedGradients, sample: Uint32Array | null): Broadcast<GradientChunk> | null {
    const { hidden } = this.#job.scheme;
    if (hidden === null || this.#sessions.length === 0) return null;
    const sampled = sample ?? everybody(gradients.instanceCount);
    const outputs = this.#task.treeOutputs[0];
    const sealed = hidden.seal({ tree, node: rootId, outputs, sampled, gradients });
    return new Broadcast(sealed, chunksAhead).ahead();
  }

  /** Settles when all parties have stored the tree. */
  #finishTree(tree: number): Promise<unknown> {
    this.#job.scheme.hidden?.endTree(tree);
    return heard(Promise.all(this.#sessions.map((session) => session.finishTree(tree))));
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
      | "sealedRoot"
      | "gradientsTaken"
    >,
  ): Promise<GrownTree<ActiveRule>> {
    const { features, training, subtraction, observer, scheme, defences, interactionGroups = "" } = this.#job;
    const alarmed = new Set<string>();
    return growFederatedTree({
      ...own,
      features,
      subtraction,
      sessions: this.#sessions,
      hidden: scheme.hidden,
      sendsTreeShape: !own.sampler.isFixedPerTree || (defences?.max_thresholds ?? 0) > 0 || interactionGroups !== "",
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
  }
}

function everybody(count: number): Uint32Array {
  const instances = new Uint32Array(count);
  for (let i = 0; i < count; i++) instances[i] = i;
  return instances;
}

/** Whoever waits for it later sees how it ended. */
function heard<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return work;
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
