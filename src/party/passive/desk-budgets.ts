/** What each partner may have of a passive party and ask of it, as its policy says, and has: kept beside its jobs. */
import type { Emit } from "../../record/events.ts";
import { DailyBudgets } from "../daily-budget.ts";
import { PartnerBudgets } from "../partner-budget.ts";
import type { DeskFiles } from "./desk-files.ts";

export interface BudgetSurroundings {
  readonly emit: Emit;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** How many people this party holds. */
  readonly rowCount: () => number;
}

export function deskBudgets(files: DeskFiles, surroundings: BudgetSurroundings): PartnerBudgets {
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
    daily: new DailyBudgets({ ...kept, ...surroundings, limits: { ...limits, ...config.experiment.dailyLimits } }),
  });
}
