/** What a job takes of this party's budget for its partner: told round by round and tree by tree, as it happens. */
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
  readonly #people: number;
  readonly #summed: number;
  readonly #demand: JobDemand;
  /** Of the tree under way. */
  #nodes = 0;
  #outcomes = 0;

  /**
   * @param people those of the job
   * @param summed those of them that trees learn from
   */
  constructor(
    budgets: PartnerBudgets,
    active: string,
    jobId: string,
    agreed: AgreedParameters,
    people: number,
    summed: number,
  ) {
    this.#budgets = budgets;
    this.#active = active;
    this.#agreed = agreed;
    this.#people = people;
    this.#summed = summed;
    this.#demand = {
      jobId,
      trees: this.#countOf(treeCountOf(agreed)),
      perTree: treeSpendingMax(spendingTerms(agreed), people, summed),
      startScores: agreed.startModel === "" ? 0 : people,
    };
  }

  /** @throws TandemError POLICY if the job does not fit what is left */
  admit(): Promise<void> {
    return this.#budgets.admit(this.#active, this.#demand);
  }

  /** @param tree the round's first */
  roundBegins(tree: number): Promise<void> {
    this.#forget();
    return this.#budgets.treesBegin(this.#active, this.#demand, this.#countOf(tree + this.#agreed.treesPerRound));
  }

  /** A node is asked for. @throws TandemError POLICY if there were too many today */
  node(): Promise<void> {
    return this.#budgets.daily.charge(this.#active, { histogram_requests: 1 }, "node");
  }

  see(observation: Observation): void {
    if (observation.kind === "sums" && observation.firstCandidate === 0) this.#nodes++;
    // Where outcomes are hidden: as many as the partner can have read, if it has asked for everybody.
    if (observation.kind === "outcome") this.#outcomes += Math.max(observation.instanceCount, observation.transfers);
  }

  /** @param trees finished in the whole job, the last one just now */
  async treeEnds(trees: number): Promise<void> {
    const took = treeSpending(
      { nodes: this.#nodes, outcomes: this.#outcomes },
      spendingTerms(this.#agreed),
      this.#people,
      this.#summed,
    );
    this.#forget();
    await this.#budgets.treeEnds(this.#active, this.#demand, this.#countOf(trees), took);
  }

  /** People are asked about within the job. @throws TandemError POLICY if that is more than is allowed */
  score(people: number): Promise<void> {
    return this.#budgets.score(this.#active, people);
  }

  /** All that the partner has had, in all jobs. */
  get spent(): Spending {
    return this.#budgets.spent(this.#active);
  }

  get limits(): BudgetLimits {
    return this.#budgets.limits;
  }

  /** What the partner has asked for today. */
  get today(): DaySpent | null {
    return this.#budgets.daily.spent(this.#active);
  }

  finished(): Promise<void> {
    return this.#budgets.jobFinished(this.#active, this.#demand.jobId);
  }

  #forget(): void {
    this.#nodes = 0;
    this.#outcomes = 0;
  }

  /** Of so many trees, those that this party has a part in. */
  #countOf(trees: number): number {
    return Math.max(0, trees - firstTreeOf(this.#agreed));
  }
}

/** A node whose gradients are its own answers, in a tree per class, for that class alone. */
function spendingTerms(agreed: AgreedParameters): SpendingTerms {
  const membership = factsOfJob(schemeNamed(agreed.scheme).membership, agreed.defences.hidden_outcomes);
  const outputs = membership.gradientsAreShared ? agreed.outputs : outputsPerTree(agreed);
  return { ...layoutTerms(agreed), outputs, membership, drawsColumns: drawsColumns(agreed) };
}
