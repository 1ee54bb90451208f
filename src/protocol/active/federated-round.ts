/** One gradient round over several parties: trees that share their gradients, which are encrypted once. */
import { membershipFacts } from "../../base/membership.ts";
import { ignoreUnhandled } from "../../base/scheduling/ignore-unhandled.ts";
import { nextSlice } from "../../base/scheduling/event-loop-slice.ts";
import type { RealGradients } from "../../base/gradients/real-gradients.ts";
import { sentGradients } from "../../base/gradients/quantised-gradients.ts";
import { gradientLayout, quantiseRound } from "../../codec/gradient-layout.ts";
import type { GradientLayout } from "../../codec/layout.ts";
import { noiseIn } from "../job-parameters.ts";
import type { BoostingMonitor } from "../../gbdt/boost/boosting-monitor.ts";
import type { BoostingTask } from "../../gbdt/boost/boosting-task.ts";
import { ColumnSampler, toColumnRates } from "../../gbdt/boost/column-sampling.ts";
import type { Turn } from "../../gbdt/boost/fold-turns.ts";
import { endsBoostingRound, boostingRoundOf } from "../../gbdt/boost/gradient-rounds.ts";
import { sampleRows } from "../../gbdt/boost/row-sampling.ts";
import { addLeafWeights, toGrowParameters } from "../../gbdt/boost/train.ts";
import type { GrownTree } from "../../gbdt/tree/grow.ts";
import type { Tree } from "../../gbdt/tree/tree.ts";
import { limitsSplits } from "../../gbdt/split/revealed-splits.ts";
import { BusyClock } from "./busy-clock.ts";
import { type ActiveRule, growFederatedTree, type TreeTask } from "./federated-tree.ts";
import type { ActiveJob, PhaseTimesMs, RoundMetrics, StoredRound } from "./job.ts";
import type { ActiveMembership } from "./membership.ts";
import type { PeerSession } from "./peer-session.ts";
import { allShortcuts } from "../../scheme/shortcuts.ts";

/** The gradient round, and the state at the beginning of its boosting round. */
export type RoundTurn = Pick<
  Turn,
  "gradientRound" | "firstTree" | "isLast" | "boostingRoundMargins" | "training" | "dart"
>;

export class FederatedRound {
  readonly #job: ActiveJob;
  readonly #membership: ActiveMembership;
  readonly #task: BoostingTask;
  readonly #sessions: readonly PeerSession[];
  readonly #isConstrained: boolean;
  readonly #encrypting: BusyClock;
  readonly #waiting: BusyClock;
  readonly #decrypting: BusyClock;
  /** The current tree. */
  #growing = 0;

  /**
   * @param sessions empty in a local round
   * @param isConstrained some party has monotone constraints
   */
  constructor(
    job: ActiveJob,
    membership: ActiveMembership,
    task: BoostingTask,
    sessions: readonly PeerSession[],
    isConstrained: boolean,
  ) {
    this.#job = job;
    this.#membership = membership;
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
   * While the passive parties finish the last tree, and while it is stored, the next round may be computed.
   * @param margins updated with every tree; with dart at the end of a boosting round, whose gradients use the old ones
   * @param keep called when all passive parties have stored the round's trees, and early stopping has evaluated it
   * @param before settles when the previous round is stored: nothing of this round is sent earlier
   * @returns when the round is grown; `ended` settles when it is stored
   */
  async grow(
    { gradientRound, firstTree, isLast, boostingRoundMargins, training, dart }: RoundTurn,
    monitor: BoostingMonitor,
    margins: Float64Array,
    keep: (round: StoredRound) => Promise<void>,
    before: Promise<unknown>,
  ): Promise<{ readonly ended: Promise<RoundMetrics | null> }> {
    const { observer } = this.#job;
    const { training: agreed, privacy } = this.#job.job;
    this.#growing = firstTree;
    const boostedMargins =
      dart === null
        ? boostingRoundMargins
        : await dart.marginsForGradients(boostingRoundOf(gradientRound, training), margins);
    const { sample, ...real } = sampleRows(
      training,
      gradientRound,
      this.#task.gradients(boostedMargins),
      this.#task.rows.training,
    );
    await nextSlice();
    const { gradients, layout } = quantiseRound(...layoutTerms(this.#job, real));
    await nextSlice();
    const sampler = new ColumnSampler(toColumnRates(training), training.seed, this.#job.samplingSecret ?? "");
    // With column sampling or limited thresholds, trees have different candidates at the root.
    const takesAll = sampler.takesAll && agreed.colsample_bytree === 1;
    const shared = this.#membership.beginRound({
      firstTree,
      treeCount: this.#task.treeOutputs.length,
      sessions: this.#sessions,
      layout,
      gradients: sentGradients(gradients),
      sample,
      outputs: this.#task.treeOutputs[0],
      columnRate: training.colsample_bytree === agreed.colsample_bytree ? 0 : training.colsample_bytree,
      offersSameRoot: takesAll && !limitsSplits(privacy) && !privacy.hidden_sums,
      moreFollow: !isLast,
      before: before.then(() => observer.treeBegan?.(firstTree)),
      encrypting: this.#encrypting,
    });
    const grid = { sampler, gradients, sample, layout };
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
      await observer.treeFinished?.(tree, margins, evaluate, grown.tree);
      await nextSlice();
    };
    for (const [i, outputs] of treeOutputs.entries()) {
      const tree = firstTree + i;
      this.#growing = tree;
      if (i > 0) observer.treeBegan?.(tree);
      const parameters = toGrowParameters(training);
      const found = await this.#growTree({ ...grid, tree, outputs, parameters, round: shared });
      await shared.opened;
      const finished = shared.finishTree(tree);
      const grown = this.#task.withOwnLeaves(found, outputs, dart === null ? margins : boostedMargins, sample);
      if (dart === null) addLeafWeights(margins, outputCount, tree, grown.tree, grown.leaves);
      else dart.add(grown.tree, grown.leaves);
      trees.push(grown.tree);
      leaves.push(grown.leaves);
      await nextSlice();
      if (i + 1 === treeOutputs.length) {
        const isEnd = endsBoostingRound(gradientRound, training);
        if (isEnd) await dart?.endBoostingRound(margins);
        const validation = isEnd ? await monitor.afterRound(margins, dart?.weights) : null;
        const ending = async (): Promise<RoundMetrics | null> => {
          await finished;
          await keep({ trees, leaves });
          await finish(tree, grown, validation);
          return evaluated;
        };
        return { ended: ignoreUnhandled(ending()) };
      }
      await finished;
      await finish(tree, grown, null);
    }
    return { ended: Promise.resolve(evaluated) };
  }

  async #growTree(
    own: Pick<TreeTask, "tree" | "outputs" | "parameters" | "sampler" | "gradients" | "sample" | "layout" | "round">,
  ): Promise<GrownTree<ActiveRule>> {
    const { features, observer } = this.#job;
    const { training, privacy, shortcuts = allShortcuts, interactionGroups } = this.#job.job;
    const alarmed = new Set<string>();
    return growFederatedTree({
      ...own,
      features,
      subtraction: shortcuts.subtraction,
      sessions: this.#sessions,
      membership: own.round.beginTree(own.tree, own.outputs),
      isConstrained: this.#isConstrained,
      isGrouped: interactionGroups !== "",
      hidesSums: privacy.hidden_sums,
      categoryPeopleMin: training.min_category_people,
      onAlarm: (party, ...what) => {
        if (alarmed.has(party)) return; // one alarm per tree is enough
        alarmed.add(party);
        observer.alarm?.(party, ...what);
      },
      waiting: this.#waiting,
      decrypting: this.#decrypting,
    });
  }
}

export function layoutFor(
  { job, scheme }: Pick<ActiveJob, "job" | "scheme">,
  gradients: RealGradients,
): GradientLayout {
  return gradientLayout(...layoutTerms({ job, scheme }, gradients));
}

/** The terms of the layout of what is sent, and the gradients that it is for. */
export function layoutTerms(
  { job, scheme }: Pick<ActiveJob, "job" | "scheme">,
  gradients: RealGradients,
): Required<Parameters<typeof gradientLayout>> {
  const noise = noiseIn(job);
  const { countsAreSent } = membershipFacts[scheme.membership];
  const masksSums = countsAreSent && job.privacy.hidden_sums;
  const hidesCounts = noise !== null || masksSums || !countsAreSent;
  return [job.codec, scheme.plaintextBitsMax, gradients, noise, hidesCounts, masksSums];
}
