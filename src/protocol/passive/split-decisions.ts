/** Splits that a passive party wins: the named candidate splits its node, and is stored. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { treeSizeMax } from "../../gbdt/tree/grow.ts";
import type { ActiveSplitDecisions, PassiveSplitSchema } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { AgreedParameters } from "../job-parameters.ts";
import type { DecidedSplit } from "./answered-splits.ts";
import type { Attempt } from "./attempt.ts";
import { decideSplit, type SplitAnswer } from "./decide-split.ts";
import type { HiddenSums } from "./hidden-sums.ts";

export interface SplitRules {
  /** @throws TandemError PROTOCOL_STATE if one of these nodes may not be split by this party */
  checkSplits(nodes: readonly number[]): void;
  /** What is stored of a split: the members of the node, if known to this party. */
  known(answer: SplitAnswer): DecidedSplit;
}

export class SplitDecisions {
  readonly #attempt: Attempt;
  readonly #rules: SplitRules;
  readonly #hiddenSums: HiddenSums | null;

  /** @param hiddenSums null: decisions name candidates */
  constructor(attempt: Attempt, rules: SplitRules, hiddenSums: HiddenSums | null) {
    this.#attempt = attempt;
    this.#rules = rules;
    this.#hiddenSums = hiddenSums;
  }

  /** The members that go left under the named candidate. */
  async *splits(request: ActiveSplitDecisions): AsyncGenerator<MessageInitShape<typeof PassiveSplitSchema>> {
    const { tally, isGrouped } = this.#attempt;
    for (const { split, members, leftMembers, monotone, groups } of await this.decide(request)) {
      const answer = { tree: split.tree, node: split.node, leftMembers, monotone, groups };
      tally.see("outcome", answer, { instanceCount: members.length });
      if (isGrouped) tally.see("split groups", answer);
      yield answer;
    }
  }

  async decide({ tree, decisions }: ActiveSplitDecisions): Promise<readonly SplitAnswer[]> {
    const { course, job, limit, answered, tally, turns } = this.#attempt;
    const answers = await turns.run(async () => {
      course.expectTree(tree);
      checkNodeList(
        decisions.map(({ node }) => node),
        job.agreed,
      );
      const { current } = this.#attempt.trees;
      const decided = decisions.map((decision) =>
        decideSplit(current, job.features, tree, this.#hiddenSums?.named(tree, decision) ?? decision),
      );
      const own = decided.map(({ split }) => split);
      this.#rules.checkSplits(own.map(({ node }) => node));
      limit.check(own);
      for (const { node, feature } of own) current.checkSplit(node, feature);
      await answered.keep(decided.map((answer) => this.#rules.known(answer)));
      limit.answered(own);
      for (const { node, feature } of own) current.splits(node, feature);
      return decided;
    });
    for (const decision of decisions) tally.see("win", tree, decision);
    return answers;
  }
}

/** One message names each node of a tree at most once, which bounds its cost. */
export function checkNodeList(nodes: readonly number[], agreed: AgreedParameters): void {
  if (nodes.length > treeSizeMax(agreed).nodes || new Set(nodes).size < nodes.length)
    throw new TandemError("PROTOCOL_STATE", "more nodes than a tree has, or one of them twice");
}
