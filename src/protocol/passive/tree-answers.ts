/** A passive party's answers for the current tree: candidate sums of nodes, and candidate orders. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ActiveNode,
  ActiveOrder,
  ActiveTreeFinished,
  PassiveOrderSchema,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { Phase as Work } from "../phase.ts";
import type { Attempt } from "./attempt.ts";
import { candidateOrder } from "./candidate-order.ts";
import type { SumsAnswer } from "./histogram-answer.ts";
import type { PassiveMembership } from "./membership.ts";
import { checkNodeList } from "./split-decisions.ts";
import { checkVetted } from "../vetting.ts";

/** Nodes that may be computed before an earlier one is stored: the store writes all waiting answers at once. */
const nodesAhead = 8;

export class TreeAnswers {
  readonly #attempt: Attempt;
  readonly #membership: PassiveMembership;

  constructor(attempt: Attempt, membership: PassiveMembership) {
    this.#attempt = attempt;
    this.#membership = membership;
  }

  /** Other nodes are computed while one is being stored and sent. */
  async *histograms(nodes: AsyncIterable<ActiveNode>): AsyncGenerator<SumsAnswer> {
    const { course, tally } = this.#attempt;
    let work: Work = "aggregate";
    let hasBegun = false;
    const answers = this.#answers(nodes, () => {
      if (!hasBegun) course.edge(work, true);
      hasBegun = true;
    });
    const ahead = (): ReturnType<typeof answers.next> => {
      const next = answers.next();
      next.catch(() => {}); // it is awaited below
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
        const { hidden_sums: areShares } = this.#attempt.job.agreed.defences;
        tally.see("sums", answer, null, this.#membership.showsDrawnColumns, areShares);
        yield answer;
      }
    }
    course.edge(work, false);
    course.level++;
  }

  /** One after the other, as soon as each is computed. @param begun called when the tree of a node has begun */
  async *#answers(
    nodes: AsyncIterable<ActiveNode>,
    begun: () => void,
  ): AsyncGenerator<{ stored: Promise<readonly SumsAnswer[]> }> {
    const messages = nodes[Symbol.asyncIterator]();
    try {
      for (let next = await messages.next(); next.done !== true; next = await messages.next()) {
        checkVetted(this.#attempt.job.agreed, next.value.node);
        await this.#attempt.job.admitNode?.();
        let computed = (): void => {};
        const isComputed = new Promise<void>((resolve) => (computed = resolve));
        const stored = this.#membership.answer(next.value, messages, begun, computed);
        let isRefused = false;
        stored.then(computed, () => {
          isRefused = true;
          computed();
        });
        await isComputed;
        yield { stored };
        if (isRefused) return; // the next messages may belong to the refused node
      }
    } finally {
      await messages.return?.();
    }
  }

  /** Requested where some candidates tie; which of them is not revealed. */
  async *order({ tree, nodes }: ActiveOrder): AsyncGenerator<MessageInitShape<typeof PassiveOrderSchema>> {
    const { course, tally, trees, job, answered } = this.#attempt;
    course.expectTree(tree);
    checkNodeList(nodes, job.agreed);
    for (const node of nodes) {
      answered.ordered(tree, node);
      for (const piece of candidateOrder(trees.current, tree, node)) {
        tally.see("order", { tree, node, ranks: piece.ranks });
        yield piece;
      }
    }
  }

  /** Stored before it is answered. The next tree of a round begins at once: its gradients are there. */
  async finishTree({ tree }: ActiveTreeFinished): Promise<void> {
    await this.#attempt.turns.run(async () => {
      const { course, answered, job } = this.#attempt;
      const isPast = tree < course.tree || (tree === course.tree && course.phase === "ready");
      if (isPast) return;
      await this.#membership.beforeFinish(tree);
      course.phase = "storing";
      try {
        await this.#membership.idle(); // answers in progress are of this tree and its gradients
        await answered.finishTree(tree);
      } finally {
        if (course.phase === "storing") course.phase = "growing";
      }
      course.expectTree(tree); // the job may have ended meanwhile
      const isLastOfRound = (tree + 1) % job.agreed.treesPerRound === 0;
      this.#membership.treeEnded(isLastOfRound);
      if (isLastOfRound) course.phase = "ready";
      else this.#nextTree(tree + 1);
      course.level = 0;
      job.observer.treeFinished?.(tree, answered.splits);
    });
  }

  #nextTree(tree: number): void {
    const { course, answered } = this.#attempt;
    course.tree = tree;
    answered.beginTree();
    this.#membership.nextTree(tree);
  }
}
