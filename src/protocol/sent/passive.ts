/** A passive party that receives the members of each node and sums the round's ciphertexts. */
import { TandemError } from "../../base/error.ts";
import { totalBinCount } from "../../gbdt/split/binning.ts";
import { treeSizeMax } from "../../gbdt/tree/grow.ts";
import { leftSidesOnly, mostFrequentBins } from "../../scheme/candidates/candidate-plan.ts";
import type { SentTask } from "../../scheme/candidates/node-task.ts";
import { SentNodes } from "../../scheme/candidates/sent-nodes.ts";
import type { SentPassive } from "../../scheme/sent-scheme.ts";
import type { ActiveGradients, ActiveNode, ActiveSetUp } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { layoutTerms } from "../job-parameters.ts";
import type { Attempt } from "../passive/attempt.ts";
import { membersDigest } from "../passive/digests.ts";
import { HiddenSums, hiddenSumsCalls } from "../passive/hidden-sums.ts";
import { histogramAnswers, type SumsAnswer } from "../passive/histogram-answer.ts";
import type { PassiveMembership, ProtocolCalls, SetUpOutcome } from "../passive/membership.ts";
import type { NodeSplit } from "../passive/round-store.ts";
import { checkSampleSize } from "../passive/round-opening.ts";
import { SplitDecisions } from "../passive/split-decisions.ts";
import { PassiveTrees, trainingRows, treeJobOf } from "../passive/trees.ts";
import { AnswerStore } from "./passive-answers.ts";
import { RoundGradients } from "./passive-gradients.ts";
import { NodeSplitRules } from "./passive-split-rules.ts";

export class SentMembers implements PassiveMembership {
  readonly greeting = new Uint8Array(0);
  readonly showsDrawnColumns = false;
  readonly calls: ProtocolCalls;
  readonly #attempt: Attempt;
  readonly #scheme: SentPassive;
  readonly #store: AnswerStore;
  readonly #rules: NodeSplitRules;
  readonly #gradients: RoundGradients;
  readonly #hiddenSums: HiddenSums | null;
  #trees: PassiveTrees<SentNodes> | null = null;

  constructor(attempt: Attempt, scheme: SentPassive) {
    const { job, answered } = attempt;
    this.#attempt = attempt;
    this.#scheme = scheme;
    this.#store = new AnswerStore(job.roundStore ?? null);
    this.#rules = new NodeSplitRules(job.agreed, this.#store, answered);
    const gradients = (this.#gradients = new RoundGradients(
      attempt,
      scheme,
      this.#store,
      this.#rules,
      (first) => this.#scheme.beginRound(this.#begin(first)),
      (first, firstTree) => {
        const nodes = this.#begin(first, firstTree);
        this.#scheme.nextTree?.(nodes);
      },
    ));
    const hiddenSums = (this.#hiddenSums = job.agreed.defences.hidden_sums ? new HiddenSums(attempt, scheme) : null);
    const decisions = new SplitDecisions(attempt, this.#rules, hiddenSums);
    this.calls = {
      ...hiddenSumsCalls(hiddenSums),
      gradients: (chunks) => gradients.take(chunks),
      splits: (request) => decisions.splits(request),
    };
  }

  async setUp({ scheme: message, skipBin }: ActiveSetUp): Promise<SetUpOutcome> {
    const { job, heldBack } = this.#attempt;
    const { agreed, features, instanceCount } = job;
    const instances = Uint32Array.from({ length: instanceCount }, (_, i) => i);
    const skippedBins = agreed.defences.hidden_sums
      ? new Int32Array(features.length).fill(leftSidesOnly)
      : skipBin && !agreed.vetting
        ? mostFrequentBins(features, instances)
        : new Int32Array(features.length).fill(-1);
    const shared = treeJobOf(job, trainingRows(job, heldBack).length, skippedBins);
    const trees = new PassiveTrees(job, (sampler, ...tree) => new SentNodes({ ...shared, sampler }, ...tree));
    const lasting = await this.#scheme.setUp(message, {
      parameters: agreed.schemeParameters,
      instanceCount,
      candidateCount: trees.candidateCount,
      columns: { bins: features.map(({ bins }) => bins), binCounts: Uint32Array.from(features, totalBinCount) },
      nodesAskedMax: 1 + treeSizeMax(agreed).pairs,
      treesPerRound: agreed.treesPerRound,
      terms: layoutTerms(agreed),
      allowsUnpacked: job.allowsUnpacked ?? false,
    });
    return {
      lasting,
      nodeMinimum: 0,
      accept: (digest) => {
        this.#trees = trees;
        this.#attempt.setUp(trees, digest);
      },
    };
  }

  answer(
    request: ActiveNode,
    _rest: AsyncIterator<ActiveNode>,
    begun: () => void,
    computed: () => void,
  ): Promise<readonly SumsAnswer[]> {
    const { course, isMonotone, answered } = this.#attempt;
    const { tree, node } = request;
    course.expectTree(tree);
    begun();
    if (!this.#store.has(tree, node)) answered.requireUnfinished(tree, node);
    const { current } = this.#treesSetUp;
    const parting = this.#place(current, request);
    const taskOf = (): SentTask => current.task(node);
    const digests = (): Uint8Array[] => [this.#gradients.digest, Buffer.from(membersDigest(current.members(node)))];
    // Of an answer that was stored before the shares are needed again.
    const known = this.#hiddenSums?.masked(tree, taskOf(), digests());
    return this.#store.answer({ tree, node, parting }, () => {
      const task = known ?? taskOf();
      return histogramAnswers(tree, task, this.#scheme.sums(task, computed), isMonotone);
    });
  }

  idle(): Promise<unknown> {
    return this.#store.idle();
  }

  async beforeFinish(tree: number): Promise<void> {
    this.#attempt.course.expectTree(tree);
    this.#store.checkAllAsked(tree);
    this.#hiddenSums?.checkAllCompared(tree);
  }

  nextTree(tree: number): void {
    const { limit, splits } = this.#attempt;
    this.#rules.beginTree(tree);
    const nodes = this.#treesSetUp.next(tree, limit.beginTree(tree, splits));
    this.#scheme.nextTree?.(nodes);
  }

  treeEnded(isLastOfRound: boolean): void {
    if (isLastOfRound) this.#scheme.endRound?.();
  }

  /** @param firstTree of the first round with the same gradients: candidates have the same order and noise */
  #begin({ tree, sampled, colsampleBytree: columnRate }: ActiveGradients, firstTree = tree): SentNodes {
    const { limit, splits, job } = this.#attempt;
    const nodes = this.#treesSetUp.begin(tree, sampled, limit.beginTree(tree, splits), columnRate, firstTree);
    checkSampleSize(job, nodes.sample.count);
    return nodes;
  }

  /** Places the node in the tree, with its members. */
  #place(current: SentNodes, request: ActiveNode): NodeSplit | null {
    const { tally, isGrouped } = this.#attempt;
    const { node, members: origin } = request;
    current.place(node, origin, (parted) => this.#rules.checkNodeSplit(parted));
    if (isGrouped && node > 0) tally.see("open groups", request);
    const members = current.members(node);
    tally.see("members", request, origin, members.length);
    if (origin === undefined || origin.isRoot) return null;
    const open = isGrouped ? { open: origin.open } : {};
    return { parent: origin.parent, node, sibling: origin.sibling, members: membersDigest(members), ...open };
  }

  get #treesSetUp(): PassiveTrees<SentNodes> {
    if (this.#trees === null) throw new TandemError("PROTOCOL_STATE", "the scheme is not set up");
    return this.#trees;
  }
}
