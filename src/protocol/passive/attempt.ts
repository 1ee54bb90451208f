/** State that the handlers of one attempt at a job share: its phase, what was answered, and the current trees. */
import { TandemError } from "../../base/error.ts";
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import { Tally } from "../../messages/tally.ts";
import { CountedColumns } from "../../gbdt/split/revealed-pieces.ts";
import type { TreeNodes } from "../../scheme/candidates/tree-nodes.ts";
import { firstTreeOf } from "../job-parameters.ts";
import { AnsweredSplits, type OwnSplit } from "./answered-splits.ts";
import { Course } from "./course.ts";
import type { PassiveJob } from "./job.ts";
import { noProgress, StoredProgress } from "./progress.ts";
import { ReceivedGradients } from "./received-gradients.ts";
import { SplitLimit } from "./split-limit.ts";
import { type PassiveTrees, trainingRows } from "./trees.ts";

export class Attempt {
  readonly job: PassiveJob;
  readonly course: Course;
  /** What either party has seen of the other. */
  readonly tally: Tally;
  readonly progress: StoredProgress;
  readonly answered: AnsweredSplits;
  /** Gradients of this attempt and earlier ones. */
  readonly received: ReceivedGradients;
  /** Serialises changes of the answered splits. */
  readonly turns = new Exclusive();
  /** Bitmap of the validation rows, known after the join; empty: none. */
  heldBack: Uint8Array = new Uint8Array(0);
  /** A round was begun in this attempt. */
  hasBegunRound = false;
  #limit: SplitLimit | null = null;
  #grown: { readonly trees: PassiveTrees<TreeNodes>; readonly setUp: string } | null = null;

  constructor(job: PassiveJob) {
    this.job = job;
    this.course = new Course(job, firstTreeOf(job.agreed) - 1);
    this.tally = new Tally(job.observer.observed);
    this.progress = new StoredProgress(job.progress ?? noProgress, job.store ?? (() => Promise.resolve()));
    this.answered = new AnsweredSplits(this.progress, job.agreed.treesPerRound);
    this.received = new ReceivedGradients(job.roundStore ?? null, (words) => job.observer.alarm?.(words));
  }

  /** Including those of a start model, which come first. */
  get splits(): readonly OwnSplit[] {
    return [...(this.job.start ?? []).map(({ split }) => split), ...this.answered.splits];
  }

  /** Known after the join. */
  get limit(): SplitLimit {
    const { features, agreed, start = [] } = this.job;
    const columns = (): CountedColumns =>
      new CountedColumns(
        features,
        trainingRows(this.job, this.heldBack),
        start.map(({ split, values, names = null }) => ({ test: split, values, names })),
      );
    return (this.#limit ??= new SplitLimit(agreed.defences, columns, this.splits));
  }

  /** Number of finished trees, including those of a start model and of local rounds. */
  get stored(): number {
    return Math.max(this.answered.trees, firstTreeOf(this.job.agreed));
  }

  /** The job has interaction constraints. */
  get isGrouped(): boolean {
    return this.job.agreed.interactionGroups !== "";
  }

  get isMonotone(): boolean {
    return this.job.features.some(({ monotone = 0 }) => monotone !== 0);
  }

  /** The scheme is set up. @param digest of what it was set up with */
  setUp(trees: PassiveTrees<TreeNodes>, digest: string): void {
    this.#grown = { trees, setUp: digest };
  }

  get trees(): PassiveTrees<TreeNodes> {
    return this.#setUp.trees;
  }

  get setUpDigest(): string {
    return this.#setUp.setUp;
  }

  get #setUp(): { readonly trees: PassiveTrees<TreeNodes>; readonly setUp: string } {
    if (this.#grown === null) throw new TandemError("PROTOCOL_STATE", "the scheme is not set up");
    return this.#grown;
  }
}
