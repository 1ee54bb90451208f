/** What a passive party answers about the tree under way: candidate sums of nodes, outcomes of splits that it wins. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import { rootId, treeSizeMax } from "../../gbdt/tree/grow.ts";
import {
  membersSeen,
  openGroupsSeen,
  orderSeen,
  outcomeSeen,
  sealedNodeSeen,
  splitGroupsSeen,
  sumsSeen,
  winSeen,
} from "../../privacy/observation.ts";
import type {
  ActiveNode,
  ActiveOrder,
  ActiveSplitDecisions,
  ActiveTreeFinished,
  PassiveOrderSchema,
  PassiveSplitSchema,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { drawsColumns } from "../hidden-nodes.ts";
import { splitKey } from "../split-key.ts";
import type { Phase as Work } from "../phase.ts";
import type { Attempt } from "./attempt.ts";
import { decideSplit, type SplitAnswer } from "./decide-split.ts";
import { membersDigest } from "./digests.ts";
import { NodeMessages } from "./node-messages.ts";
import { histogramAnswer, type SumsAnswer } from "./histogram-answer.ts";
import type { NodeTask } from "../../scheme/candidates/node-task.ts";
import type { PassiveHidden, SumsPiece, TakenNode } from "../../scheme/scheme.ts";
import type { Parting } from "./round-store.ts";
import { toldOrder } from "./told-order.ts";

/** Nodes that may be computed before an earlier one is stored: the store takes those that wait at once. */
const nodesAhead = 8;

export class TreeAnswers {
  readonly #attempt: Attempt;
  /** Whatever changes the answered splits waits for its turn. */
  readonly #turns = new Exclusive();
  /** Where members are hidden: the nodes of this tree that were asked for. */
  #asked = new Set<string>();

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
  }

  /** Other nodes are computed while one is being stored, and is on its way. */
  async *histograms(nodes: AsyncIterable<ActiveNode>): AsyncGenerator<SumsAnswer> {
    const { course, tally, isHidden, job } = this.#attempt;
    const isDrawn = isHidden && drawsColumns(job.agreed);
    let work: Work = "aggregate";
    let hasBegun = false;
    const answers = this.#answers(nodes, () => {
      if (!hasBegun) course.edge(work, true);
      hasBegun = true;
    });
    const ahead = (): ReturnType<typeof answers.next> => {
      const next = answers.next();
      next.catch(() => {}); // whoever waits for it sees it
      return next;
    };
    const next = Array.from({ length: nodesAhead }, ahead);
    for (let i = 0; ; i = (i + 1) % nodesAhead) {
      const { done, value } = await next[i];
      if (done === true) break;
      next[i] = ahead();
      const stored = await value.stored;
      if (work === "aggregate") {
        course.edge(work, false);
        work = "return";
        course.edge(work, true);
      }
      for (const answer of stored) {
        tally.see(sumsSeen(answer, null, isDrawn));
        yield answer;
      }
    }
    course.edge(work, false);
    course.level++;
  }

  /** One after the other, as soon as it is computed. @param begun called when the tree of a node is under way */
  async *#answers(
    nodes: AsyncIterable<ActiveNode>,
    begun: () => void,
  ): AsyncGenerator<{ stored: Promise<readonly SumsAnswer[]> }> {
    const messages = nodes[Symbol.asyncIterator]();
    try {
      for (let next = await messages.next(); next.done !== true; next = await messages.next()) {
        const request = next.value;
        await this.#attempt.job.admitNode?.();
        let computed = (): void => {};
        const isComputed = new Promise<void>((resolve) => (computed = resolve));
        const stored = this.#answer(request, new NodeMessages(request, messages), begun, computed);
        let isRefused = false;
        stored.then(computed, () => {
          isRefused = true;
          computed();
        });
        await isComputed;
        yield { stored };
        if (isRefused) return; // what follows may be the rest of it
      }
    } finally {
      await messages.return?.();
    }
  }

  /** @param computed called when only storing is left, or what a scheme does beside the sums of the next node */
  #answer(
    request: ActiveNode,
    requested: NodeMessages,
    begun: () => void,
    computed: () => void,
  ): Promise<readonly SumsAnswer[]> {
    const { hidden } = this.#attempt.job.scheme;
    if (hidden !== null) return this.#answerHidden(request, requested, hidden, begun);
    const { told, course, job } = this.#attempt;
    const { tree, node } = request;
    course.expectTree(tree);
    begun();
    const { current } = this.#attempt.trees;
    const parting = this.#place(request);
    return told.answer({ tree, node, parting }, () => {
      const task = current.task(node);
      return this.#pieces(tree, task, job.scheme.sums(task, computed));
    });
  }

  /** A round's first node may come before its round is opened: it is taken meanwhile, and not answered. */
  async #answerHidden(
    request: ActiveNode,
    requested: NodeMessages,
    hidden: PassiveHidden,
    begun: () => void,
  ): Promise<readonly SumsAnswer[]> {
    const { course, job, told, tally } = this.#attempt;
    const { tree, node } = request;
    let taking: Promise<TakenNode> | null = null;
    if (node === rootId && tree % job.agreed.treesPerRound === 0 && course.isNext(tree)) {
      const opened = course.opened(tree);
      taking = hidden.take(requested);
      taking.catch(() => {}); // who answers sees it
      await opened;
    }
    course.expectTree(tree);
    begun();
    this.#place(request);
    this.#askOnce(tree, node);
    const { current } = this.#attempt.trees;
    return told.answer({ tree, node, parting: null }, async () => {
      const task = current.task(node);
      const taken = await (taking ?? hidden.take(requested));
      const messages = await this.#pieces(tree, task, taken.sums(task));
      tally.see(sealedNodeSeen(tree, node, taken.ciphertexts, requested.bytes));
      return messages;
    });
  }

  async #pieces(tree: number, task: NodeTask, pieces: AsyncIterable<SumsPiece>): Promise<SumsAnswer[]> {
    const messages: SumsAnswer[] = [];
    let firstCandidate = 0;
    for await (const piece of pieces) {
      messages.push(histogramAnswer(tree, task, firstCandidate, piece, this.#attempt.isMonotone));
      firstCandidate += piece.candidateCount;
    }
    return messages;
  }

  /** A second answer under other gradients, or another flood over the same, would tell more than one does. */
  #askOnce(tree: number, node: number): void {
    const key = splitKey(tree, node);
    if (this.#asked.has(key) || this.#asked.size === this.#attempt.trees.nodesAskedMax)
      throw new TandemError("PROTOCOL_STATE", `node ${node} of tree ${tree} is asked for too often`);
    this.#asked.add(key);
  }

  /** Who is in the node is known from here on, where it is told. */
  #place(request: ActiveNode): Parting | null {
    const { tally, rules, trees, isHidden, isGrouped } = this.#attempt;
    const { node, members: origin } = request;
    const { current } = trees;
    current.place(node, origin, (parted) => rules.checkParting(parted));
    if (isGrouped && node > 0) tally.see(openGroupsSeen(request));
    if (isHidden) return null;
    const members = current.members(node);
    tally.see(membersSeen(request, origin, members.length));
    if (origin === undefined || origin.isRoot) return null;
    const open = isGrouped ? { open: origin.open } : {};
    return { parent: origin.parent, node, sibling: origin.sibling, members: membersDigest(members), ...open };
  }

  /** Asked for where some of its candidates tie: which of them is not said. */
  async *order({ tree, nodes }: ActiveOrder): AsyncGenerator<MessageInitShape<typeof PassiveOrderSchema>> {
    const { course, tally, trees } = this.#attempt;
    course.expectTree(tree);
    this.#checkNumber(nodes);
    for (const node of nodes) {
      for (const piece of toldOrder(trees.current, tree, node)) {
        tally.see(orderSeen({ tree, node, ranks: piece.ranks }));
        yield piece;
      }
    }
  }

  /** One message names each node of a tree once: each costs time. */
  #checkNumber(nodes: readonly number[]): void {
    const most = treeSizeMax(this.#attempt.job.agreed).nodes;
    if (nodes.length > most || new Set(nodes).size < nodes.length)
      throw new TandemError("PROTOCOL_STATE", "more nodes than a tree has, or one of them twice");
  }

  /** Who goes left where a candidate is named. */
  async *splits(request: ActiveSplitDecisions): AsyncGenerator<MessageInitShape<typeof PassiveSplitSchema>> {
    const { tally, hidesOutcomes } = this.#attempt;
    if (hidesOutcomes) throw new TandemError("PROTOCOL_STATE", "outcomes are hidden in this job");
    for (const { split, members, leftMembers, monotone, groups } of await this.decide(request)) {
      const answer = { tree: split.tree, node: split.node, leftMembers, monotone, groups };
      tally.see(outcomeSeen(answer, members.length));
      if (this.#attempt.isGrouped) tally.see(splitGroupsSeen(answer));
      yield answer;
    }
  }

  /** What is named splits its node, and is stored. */
  async decide({ tree, decisions }: ActiveSplitDecisions): Promise<readonly SplitAnswer[]> {
    const { course, job, limit, answered, rules, tally, isHidden } = this.#attempt;
    const answers = await this.#turns.run(async () => {
      course.expectTree(tree);
      this.#checkNumber(decisions.map(({ node }) => node));
      const { current } = this.#attempt.trees;
      const decided = decisions.map((decision) => decideSplit(current, job.features, tree, decision));
      const own = decided.map(({ split }) => split);
      rules.checkSplits(own.map(({ node }) => node));
      limit.check(own);
      for (const { node, feature } of own) current.checkSplit(node, feature);
      await answered.keep(isHidden ? decided.map((each) => ({ ...each, members: null })) : decided);
      limit.answered(own);
      for (const { node, feature } of own) current.splits(node, feature);
      return decided;
    });
    for (const decision of decisions) tally.see(winSeen(tree, decision));
    return answers;
  }

  /** Stored before it is answered. The next tree of a round begins at once: its gradients are there. */
  async finishTree({ tree }: ActiveTreeFinished): Promise<void> {
    await this.#turns.run(async () => {
      const { course, answered, told, job } = this.#attempt;
      const isPast = tree < course.tree || (tree === course.tree && course.phase === "ready");
      if (isPast) return;
      course.expectTree(tree);
      course.phase = "storing";
      try {
        await told.idle(); // what is still being computed is of this tree, from these gradients
        await answered.finishTree(tree);
      } finally {
        if (course.phase === "storing") course.phase = "growing";
      }
      course.expectTree(tree); // it may have been given up
      const isLastOfRound = (tree + 1) % job.agreed.treesPerRound === 0;
      if (isLastOfRound) {
        course.phase = "ready";
        job.scheme.endRound();
      } else this.#nextTree(tree + 1);
      course.level = 0;
      this.#asked.clear();
      job.observer.treeFinished(tree, answered.splits);
    });
  }

  #nextTree(tree: number): void {
    const { course, answered, limit, job, trees, rules, splits } = this.#attempt;
    course.tree = tree;
    answered.beginTree();
    rules.beginTree(tree);
    job.scheme.nextTree(trees.next(tree, limit.beginTree(tree, splits)));
  }
}
