/** What a job uses of this party's budget for its partner, counted per round and per tree. */
import { factsOfJob } from "../../base/membership.ts";
import type { Observation } from "../../messages/observation.ts";
import type { Spending } from "../../privacy/spending.ts";
import { type SpendingTerms, treeSpending, treeSpendingMax } from "../../privacy/tree-spending.ts";
import { drawsColumns, outputsPerTree } from "../../protocol/hidden/terms.ts";
import { type AgreedParameters, firstTreeOf, layoutTerms, treeCountOf } from "../../protocol/job-parameters.ts";
import { schemeNamed } from "../../scheme/registry.ts";
import type { DaySpent } from "../daily-budget.ts";
import type { BudgetLimits, JobDemand, PartnerBudgets } from "../partner-budget.ts";

export class JobSpending {
  readonly #budgets: PartnerBudgets;
  readonly #active: string;
  readonly #agreed: AgreedParameters;
  readonly #instanceCount: number;
  readonly #summed: number;
  readonly #demand: JobDemand;
  #release = (): void => {};
  /** By tree: the nodes whose sums were sent, and per node the outcomes. Repeated answers count once. */
  readonly #nodes = new Map<number, Set<number>>();
  readonly #outcomes = new Map<number, Map<number, number>>();
  /** By tree: how often nodes were compared on shares. */
  readonly #compared = new Map<number, number>();

  /**
   * @param instanceCount number of instances of the job
   * @param summed number of them that trees are trained on
   */
  constructor(
    budgets: PartnerBudgets,
    active: string,
    jobId: string,
    agreed: AgreedParameters,
    instanceCount: number,
    summed: number,
  ) {
    this.#budgets = budgets;
    this.#active = active;
    this.#agreed = agreed;
    this.#instanceCount = instanceCount;
    this.#summed = summed;
    this.#demand = {
      jobId,
      trees: this.#countOf(treeCountOf(agreed)),
      perTree: treeSpendingMax(spendingTerms(agreed), instanceCount, summed),
      startScores: agreed.startModel === "" ? 0 : instanceCount,
    };
  }

  /** Holds what the job may take. @throws TandemError POLICY if it exceeds what is left beside other jobs */
  async admit(): Promise<void> {
    this.#release = await this.#budgets.admit(this.#active, this.#demand);
  }

  /** The attempt is over: nothing is held for it any more. */
  release(): void {
    this.#release();
  }

  /** @param tree the round's first */
  roundBegins(tree: number): Promise<void> {
    return this.#budgets.treesBegin(this.#active, this.#demand, this.#countOf(tree + this.#agreed.treesPerRound));
  }

  /** A node is requested. @throws TandemError POLICY if there were too many today */
  node(): Promise<void> {
    return this.#budgets.daily.charge(this.#active, { histogram_requests: 1 }, "node");
  }

  see(observation: Observation): void {
    // Where sums are hidden, a node reveals what was found best, in each attempt, and no sum by itself.
    if (observation.kind === "best candidate")
      this.#compared.set(observation.tree, (this.#compared.get(observation.tree) ?? 0) + 1);
    if (observation.kind === "sums" && !observation.areShares) {
      const { tree, node } = observation;
      this.#nodes.set(tree, (this.#nodes.get(tree) ?? new Set<number>()).add(node));
    }
    if (observation.kind === "outcome") {
      const { tree, node, instanceCount, transfers } = observation;
      const ofTree = this.#outcomes.get(tree) ?? new Map<number, number>();
      // Where outcomes are hidden: an upper bound, as if the partner had requested all instances.
      this.#outcomes.set(tree, ofTree.set(node, Math.max(instanceCount, transfers)));
    }
  }

  /**
   * A tree is stored. It was grown with the requests of all of its attempts: otherwise the role refuses its end.
   * @param trees number of finished trees of the job, including this one
   */
  async treeEnds(trees: number): Promise<void> {
    const tree = trees - 1;
    const nodes = this.#nodes.get(tree)?.size ?? 0;
    const opened = this.#compared.get(tree) ?? 0;
    const outcomes = [...(this.#outcomes.get(tree)?.values() ?? [])].reduce((sum, count) => sum + count, 0);
    this.#nodes.delete(tree);
    this.#compared.delete(tree);
    this.#outcomes.delete(tree);
    const took = treeSpending(
      { nodes, opened, outcomes },
      spendingTerms(this.#agreed),
      this.#instanceCount,
      this.#summed,
    );
    await this.#budgets.treeEnds(this.#active, this.#demand, this.#countOf(trees), took);
  }

  /** Predictions are requested within the job. @throws TandemError POLICY if they exceed the budget */
  score(instanceCount: number): Promise<void> {
    return this.#budgets.score(this.#active, instanceCount);
  }

  /** Masked scores of these people are requested. @throws TandemError POLICY if one of them has had all allowed */
  questions(model: string, ids: readonly string[]): Promise<void> {
    return this.#budgets.questions.charge(this.#active, model, ids);
  }

  /** What the partner has used in all jobs. */
  get spent(): Spending {
    return this.#budgets.spent(this.#active);
  }

  get limits(): BudgetLimits {
    return this.#budgets.limits;
  }

  /** What the partner has requested today. */
  get today(): DaySpent | null {
    return this.#budgets.daily.spent(this.#active);
  }

  finished(): Promise<void> {
    return this.#budgets.jobFinished(this.#active, this.#demand.jobId);
  }

  /** Number of the first `trees` trees that this party takes part in. */
  #countOf(trees: number): number {
    return Math.max(0, trees - firstTreeOf(this.#agreed));
  }
}

/** Where nodes have their own gradients, a tree per class has sums of that class only. */
function spendingTerms(agreed: AgreedParameters): SpendingTerms {
  const membership = factsOfJob(schemeNamed(agreed.scheme).membership, agreed.defences.hidden_outcomes);
  const outputs = membership.gradientsAreShared ? agreed.outputs : outputsPerTree(agreed);
  const hidesSums = agreed.defences.hidden_sums;
  const isVetting = agreed.vetting;
  return { ...layoutTerms(agreed), outputs, membership, drawsColumns: drawsColumns(agreed), hidesSums, isVetting };
}
