/** What the active party knows about a job before it starts, for the list of disclosures. */
import type { DisclosureFacts } from "../../privacy/disclosures.ts";
import type { ActiveConfig } from "../config/config.ts";
import { jobFacts, type OwnFacts, unknownParty } from "../disclosure-facts.ts";
import { type ActiveTables, jobTables, withClassesOf } from "./tables.ts";

/**
 * The job as the active party will propose it: of an alignment it knows only that the common instances are among its
 * own.
 * @param folds of a cross-validation, which makes no other predictions
 */
export function activeFacts(
  given: ActiveConfig,
  tables: ActiveTables,
  folds: number | null = null,
): readonly DisclosureFacts[] {
  const config = withClassesOf(given, tables);
  const { rows, test } = jobTables(tables, null, config);
  const { job } = config;
  const hasStart = config.warm_start !== undefined;
  const own =
    folds === null
      ? jobFacts(job, rows, { predictedRows: test?.ids.length ?? 0, hasStart })
      : foldFacts(jobFacts(job, rows.holdingOut(null), { predictedRows: 0, hasStart }), folds);
  const activeIds = tables.reduce((sum, { rows }) => sum + rows.table.ids.length, 0);
  const passiveParty = job.training.enable_categorical ? unknownParty : { ...unknownParty, groupedFeatures: 0 };
  const alignment = config.align ? { activeIds, passiveIds: null } : null;
  const ours = { ...own, active: config.name, alignment, passiveParty, sendsContributions: config.tell_contributions };
  return config.passives.map(({ name }) => ({ ...ours, passive: name }));
}

/** All folds' trees are one job's; where nothing else is sampled, a tree's sample is all but a fold. */
function foldFacts(own: OwnFacts, folds: number): OwnFacts {
  const { trees, rounds, localRounds, sampling } = own;
  return {
    ...own,
    trees: trees * folds,
    rounds: rounds * folds,
    localRounds: localRounds * folds,
    sampling: sampling?.method === "none" ? { method: "folds", folds } : sampling,
  };
}
