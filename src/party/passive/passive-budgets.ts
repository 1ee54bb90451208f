/**
 * The budgets of a passive party's partners, by its policy, and what they have used: stored in its output directory.
 */
import type { Emit } from "../../record/events.ts";
import { DailyBudgets } from "../daily-budget.ts";
import { PartnerBudgets } from "../partner-budget.ts";
import { QuestionCounts } from "../question-counts.ts";
import type { PassiveFiles } from "./passive-files.ts";

export interface BudgetSurroundings {
  readonly emit: Emit;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Number of rows of this party. */
  readonly rowCount: () => number;
}

export function passiveBudgets(files: PassiveFiles, surroundings: BudgetSurroundings): PartnerBudgets {
  const { config, storage } = files;
  const { daily: limits, ...overAll } = config.policy.budget;
  const kept = {
    party: config.name,
    directory: config.output.directory,
    storage,
    ownFiles: <T>(work: () => Promise<T>) => files.using(work),
  };
  return new PartnerBudgets({
    ...kept,
    limits: overAll,
    questions: new QuestionCounts({ ...kept, limit: config.policy.max_scores_per_person }),
    daily: new DailyBudgets({ ...kept, ...surroundings, limits: { ...limits, ...config.experiment.dailyLimits } }),
  });
}
