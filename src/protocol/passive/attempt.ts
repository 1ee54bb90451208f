/** What the handlers of one attempt at a job share: where it is, what was answered, and the trees under way. */
import { TandemError } from "../../base/error.ts";
import { Tally } from "../../privacy/tally.ts";
import { firstTreeOf } from "../job-parameters.ts";
import { AnsweredSplits, type OwnSplit } from "./answered-splits.ts";
import { Course } from "./course.ts";
import type { PassiveJob } from "./job.ts";
import { PartingRules } from "./parting-rules.ts";
import { noProgress, StoredProgress } from "./progress.ts";
import { ThresholdLimit } from "./threshold-limit.ts";
import { ToldAnswers } from "./told-answers.ts";
import type { PassiveTrees } from "./trees.ts";

export class Attempt {
  readonly job: PassiveJob;
  readonly course: Course;
  /** What either end has seen of the other. */
  readonly tally: Tally;
  readonly progress: StoredProgress;
  readonly answered: AnsweredSplits;
  readonly told: ToldAnswers;
  readonly rules: PartingRules;
  readonly limit: ThresholdLimit;
  /** Bitmap of the validation rows, once joined; empty: none. */
  heldBack: Uint8Array = new Uint8Array(0);
  #grown: { readonly trees: PassiveTrees; readonly setUp: string } | null = null;

  constructor(job: PassiveJob) {
    this.job = job;
    this.course = new Course(job, firstTreeOf(job.agreed) - 1);
    this.tally = new Tally(job.observer.observed);
    this.progress = new StoredProgress(job.progress ?? noProgress, job.store ?? (() => Promise.resolve()));
    this.answered = new AnsweredSplits(this.progress, job.agreed.treesPerRound);
    // Where members are hidden nothing is told again: whoever asks has other secrets by then.
    this.told = new ToldAnswers(this.isHidden ? null : (job.roundStore ?? null));
    this.rules = new PartingRules(job.agreed, this.told, this.answered, this.isHidden);
    this.limit = new ThresholdLimit(job.agreed.maxThresholds, this.splits);
  }

  /** Nobody says who is in a node. */
  get isHidden(): boolean {
    return this.job.scheme.hidden !== null;
  }

  /** Of a split that this party wins, the active party learns the sides of the node's people only. */
  get hidesOutcomes(): boolean {
    return this.isHidden && this.job.agreed.hiddenOutcomes;
  }

  /** Those of a start model first. */
  get splits(): readonly OwnSplit[] {
    return [...(this.job.start ?? []).map(({ split }) => split), ...this.answered.splits];
  }

  /** Finished trees, those of a start model and the active party's own among them. */
  get stored(): number {
    return Math.max(this.answered.trees, firstTreeOf(this.job.agreed));
  }

  /** Features interact in groups only. */
  get isGrouped(): boolean {
    return this.job.agreed.interactionGroups !== "";
  }

  get isMonotone(): boolean {
    return this.job.features.some(({ monotone = 0 }) => monotone !== 0);
  }

  /** The scheme is set up. @param digest of what it was set up with */
  setUp(trees: PassiveTrees, digest: string): void {
    this.#grown = { trees, setUp: digest };
  }

  get trees(): PassiveTrees {
    return this.#setUp.trees;
  }

  get setUpDigest(): string {
    return this.#setUp.setUp;
  }

  get #setUp(): { readonly trees: PassiveTrees; readonly setUp: string } {
    if (this.#grown === null) throw new TandemError("PROTOCOL_STATE", "the scheme is not set up");
    return this.#grown;
  }
}
