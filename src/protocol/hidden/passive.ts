/**
 * A passive party that does not know the members of nodes. Every node comes with gradients of its own, and is answered
 * once, over all attempts (passive-answered-nodes.ts). A round begins with the first message about its first tree: the
 * request for the root, or the end of the tree if no node of it is requested.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { candidateIndex } from "../../gbdt/split/candidate.ts";
import { everOffered } from "../../gbdt/split/ever-offered.ts";
import { rootId } from "../../gbdt/tree/grow.ts";
import { leftSidesOnly, middleBins } from "../../scheme/candidates/candidate-plan.ts";
import { TreeCandidates } from "../../scheme/candidates/candidate-set.ts";
import { HiddenNodes, type HiddenTreeJob } from "../../scheme/candidates/hidden-nodes.ts";
import type { HiddenPassive, SummedRows, TakenNode } from "../../scheme/hidden-scheme.ts";
import type { ActiveNode, ActiveSetUp, PassiveHintsSchema } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { DecidedSplit } from "../passive/answered-splits.ts";
import type { Attempt } from "../passive/attempt.ts";
import type { SplitAnswer } from "../passive/decide-split.ts";
import { sampleDigest } from "../passive/digests.ts";
import { HiddenSums, hiddenSumsCalls } from "../passive/hidden-sums.ts";
import { histogramAnswers, type SumsAnswer } from "../passive/histogram-answer.ts";
import type { PassiveMembership, ProtocolCalls, SetUpOutcome } from "../passive/membership.ts";
import { checkSampleSize, RoundOpening, type RoundTerms } from "../passive/round-opening.ts";
import { SplitCount } from "../passive/split-count.ts";
import { SplitDecisions, type SplitRules } from "../passive/split-decisions.ts";
import { PassiveTrees, trainingRows, treeJobOf } from "../passive/trees.ts";
import { AnsweredNodes } from "./passive-answered-nodes.ts";
import { NodeMessages } from "./passive-node-messages.ts";
import { OutcomeTransfers } from "./passive-outcomes.ts";
import { drawsColumns, nodesOfJob, nodesPerTree, outputsPerTree, runOf, sendsTreeShape } from "./terms.ts";
import { layoutTerms } from "../job-parameters.ts";

/** No sample is sent: the bitmap of all instances is empty. */
const everyInstance = new Uint8Array(0);

export class HiddenMembers implements PassiveMembership {
  readonly calls: ProtocolCalls;
  readonly showsDrawnColumns: boolean;
  readonly #attempt: Attempt;
  readonly #scheme: HiddenPassive;
  readonly #opening: RoundOpening;
  readonly #splits: SplitCount;
  readonly #hiddenSums: HiddenSums | null;
  #trees: PassiveTrees<HiddenNodes> | null = null;
  readonly #answered: AnsweredNodes;
  /** The requested nodes of this tree, in this attempt. */
  readonly #asked = new Set<number>();
  readonly #underWay = new Set<Promise<unknown>>();
  /** The first node of the next round is being received: it is held in memory, so there is at most one. */
  #isAhead = false;

  constructor(attempt: Attempt, scheme: HiddenPassive) {
    const { agreed } = attempt.job;
    this.#attempt = attempt;
    this.#scheme = scheme;
    this.#opening = new RoundOpening(attempt);
    const { nodeJournal = null, roundStore, observer } = attempt.job;
    this.#answered = new AnsweredNodes(nodeJournal, nodesPerTree(agreed), async (other, reason) => {
      observer.alarm?.(reason);
      await roundStore?.refuseGradients(other);
    });
    this.#splits = new SplitCount(agreed);
    this.showsDrawnColumns = drawsColumns(agreed);
    const hiddenSums = (this.#hiddenSums = agreed.defences.hidden_sums ? new HiddenSums(attempt, scheme) : null);
    const decisions = new SplitDecisions(attempt, this.#splitRules(), hiddenSums);
    const transfers = new OutcomeTransfers(attempt, decisions);
    this.calls = {
      hints: () => this.#hints(),
      ...hiddenSumsCalls(hiddenSums),
      ...(agreed.defences.hidden_outcomes
        ? {
            outcomeKeys: (keys) => transfers.keys(keys),
            hiddenSplits: (messages) => transfers.splits(messages),
          }
        : { splits: (request) => decisions.splits(request) }),
    };
  }

  get greeting(): Uint8Array {
    return this.#scheme.greeting();
  }

  async setUp({ scheme: message }: ActiveSetUp, jobId: Uint8Array): Promise<SetUpOutcome> {
    const { job, heldBack } = this.#attempt;
    const { agreed, features, instanceCount } = job;
    const rows = trainingRows(job, heldBack);
    const skipped = agreed.defences.hidden_sums
      ? new Int32Array(features.length).fill(leftSidesOnly)
      : agreed.vetting
        ? new Int32Array(features.length).fill(-1)
        : middleBins(features, rows);
    const common = treeJobOf(job, rows.length, skipped);
    const shared: HiddenTreeJob = {
      ...common,
      sendsTreeShape: sendsTreeShape(agreed),
      ever: everOffered(common.minimums, features, rows),
    };
    const trees = new PassiveTrees(job, (sampler, ...tree) => new HiddenNodes({ ...shared, sampler }, ...tree));
    const lasting = await this.#scheme.setUp(message, {
      parameters: agreed.schemeParameters,
      instanceCount,
      run: runOf(agreed.job, jobId),
      nodesMax: nodesOfJob(agreed),
      outputsPerTree: outputsPerTree(agreed),
      summed: summedRows(shared, rows, agreed.defences.hidden_sums),
      terms: layoutTerms(agreed),
    });
    return {
      lasting,
      nodeMinimum: shared.minimums.perNode,
      accept: (digest) => {
        this.#trees = trees;
        this.#attempt.setUp(trees, digest);
      },
    };
  }

  async answer(
    request: ActiveNode,
    rest: AsyncIterator<ActiveNode>,
    begun: () => void,
  ): Promise<readonly SumsAnswer[]> {
    const { course, isGrouped, tally, answered } = this.#attempt;
    const { tree, node } = request;
    const messages = new NodeMessages(request, rest);
    const ahead = this.#beginsRound(request) ? await this.#takeFirst(request, messages) : null;
    course.expectTree(tree);
    begun();
    if (ahead === null && request.colsampleBytree !== 0)
      throw new TandemError("PROTOCOL_STATE", "a fraction of columns in the middle of a round");
    if (!this.#answered.has(tree, node)) answered.requireUnfinished(tree, node);
    const { current } = this.#treesSetUp;
    current.place(node, request.members);
    if (isGrouped && node > 0) tally.see("open groups", request);
    this.#askOnce(tree, node);
    return this.#tracked(async () => {
      const taken = ahead ?? (await this.#scheme.take(messages));
      const { signed } = messages;
      const isRepeatable = node === rootId && this.#attempt.job.agreed.defences.answer_noise > 0;
      const root = isRepeatable ? messages.gradients : undefined;
      if (root !== undefined) current.repeatRoot(this.#answered.firstRoot(root, tree));
      const { digest } = signed;
      const plain = current.task(node);
      const task = this.#hiddenSums?.masked(tree, plain, [digest]) ?? plain;
      const treeOfRound = tree % this.#attempt.job.agreed.treesPerRound;
      const answers = await this.#answered.answer({ ...signed, root }, () =>
        histogramAnswers(tree, task, taken.sums(task, { tree, treeOfRound, digest }), this.#attempt.isMonotone),
      );
      tally.see("encrypted node", tree, node, taken.ciphertexts, messages.bytes);
      return answers;
    });
  }

  idle(): Promise<unknown> {
    return Promise.allSettled(this.#underWay);
  }

  async beforeFinish(tree: number): Promise<void> {
    const { course } = this.#attempt;
    if (course.phase === "ready") await this.#open(tree, 0);
    course.expectTree(tree);
    this.#answered.checkAllAsked(tree, this.#asked);
    this.#hiddenSums?.checkAllCompared(tree);
  }

  nextTree(tree: number): void {
    const { limit, splits, answered } = this.#attempt;
    this.#splits.beginTree(tree, answered.nodesOf(tree));
    this.#treesSetUp.next(tree, limit.beginTree(tree, splits));
  }

  treeEnded(): void {
    this.#asked.clear();
  }

  /** The members of nodes are unknown: only the number of splits can be checked. */
  #splitRules(): SplitRules {
    return {
      checkSplits: (nodes: readonly number[]): void => {
        for (const node of nodes) this.#splits.add(node);
      },
      known: (answer: SplitAnswer): DecidedSplit => ({ ...answer, members: null }),
    };
  }

  /** What the answers of this attempt are opened with: sent once. */
  async *#hints(): AsyncGenerator<MessageInitShape<typeof PassiveHintsSchema>> {
    const { course, tally, trees } = this.#attempt;
    course.expect("ready");
    let bytes = 0;
    for await (const scheme of this.#scheme.hints()) {
      bytes += scheme.length;
      yield { scheme };
    }
    tally.see("hints", trees.candidateCount, bytes);
  }

  #beginsRound({ tree, node }: ActiveNode): boolean {
    const { course, job } = this.#attempt;
    return node === rootId && tree % job.agreed.treesPerRound === 0 && course.isNext(tree);
  }

  /**
   * The first node of a round may come while the tree before it is being stored: its last message comes when the active
   * party has stored that round too, and opens this one.
   */
  async #takeFirst({ tree, colsampleBytree }: ActiveNode, messages: NodeMessages): Promise<TakenNode> {
    if (this.#isAhead) throw new TandemError("PROTOCOL_STATE", `tree ${tree} is asked for ahead of its round twice`);
    this.#isAhead = true;
    try {
      const taken = await this.#scheme.take(messages);
      await this.#open(tree, colsampleBytree);
      return taken;
    } finally {
      this.#isAhead = false;
    }
  }

  async #open(tree: number, colsampleBytree: number): Promise<void> {
    const { job, limit, splits, answered } = this.#attempt;
    const terms: RoundTerms = { sampled: everyInstance, colsampleBytree };
    this.#opening.check(tree, terms);
    await this.#opening.open(tree, async () => {
      // All before anything is answered; in which order does not matter.
      const stored = await Promise.allSettled([
        job.admitRound?.(tree),
        this.#storeRound(tree, terms),
        this.#answered.begin(tree),
      ]);
      for (const each of stored) if (each.status === "rejected") throw each.reason;
      const nodes = this.#treesSetUp.begin(tree, everyInstance, limit.beginTree(tree, splits), colsampleBytree);
      checkSampleSize(job, nodes.sample.count);
      this.#splits.beginTree(tree, answered.nodesOf(tree));
    });
  }

  /** From now on no earlier round is redone, and this one only with these terms. */
  async #storeRound(tree: number, terms: RoundTerms): Promise<void> {
    const { progress, setUpDigest: setUp } = this.#attempt;
    const round = { tree, sample: sampleDigest(terms) };
    await progress.update((current) => (current.round?.tree === tree ? null : { setUp, round }));
  }

  /** Within an attempt a repetition is not computed again. */
  #askOnce(tree: number, node: number): void {
    if (this.#asked.has(node))
      throw new TandemError("PROTOCOL_STATE", `node ${node} of tree ${tree} is asked for too often`);
    this.#asked.add(node);
  }

  #tracked<T>(compute: () => Promise<T>): Promise<T> {
    const work = compute();
    const ended = (): void => void this.#underWay.delete(work);
    this.#underWay.add(work);
    work.then(ended, ended);
    return work;
  }

  get #treesSetUp(): PassiveTrees<HiddenNodes> {
    if (this.#trees === null) throw new TandemError("PROTOCOL_STATE", "the scheme is not set up");
    return this.#trees;
  }
}

/**
 * The rows that a scheme sums.
 * @param answersAll sums are hidden, so that all candidates are answered: which are never offered is not revealed
 */
function summedRows(job: HiddenTreeJob, rows: Uint32Array, answersAll: boolean): SummedRows {
  const { plan, byPosition } = new TreeCandidates(job, 0, 0).all;
  const isOffered = (rank: number): boolean => {
    if (answersAll) return true;
    const candidate = plan.candidates[rank];
    return job.ever?.[candidate.feature][candidateIndex(job.features[candidate.feature], candidate)] !== 0;
  };
  const bins = job.features.map((feature) =>
    rows.length === job.instances.length ? feature.bins : Uint16Array.from(rows, (row) => feature.bins[row]),
  );
  return { bins, plan, offered: Uint32Array.from(byPosition.keys()).filter((place) => isOffered(byPosition[place])) };
}
