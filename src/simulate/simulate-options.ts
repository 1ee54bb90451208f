/** Options of a simulation, and the checks that do not need the table. */
import type { RowColumnChoice } from "../data/row-column.ts";
import { access, constants, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { TandemError } from "../base/error.ts";
import { objectiveFor } from "../gbdt/objective/objectives.ts";
import { requireXgboostForm } from "../gbdt/tree/xgboost-agreement.ts";
import { type GivenJob, type Refuse, resolveJob } from "../party/resolve-job.ts";
import type { Job } from "../protocol/job.ts";
import type { PartyEvent } from "../record/events.ts";
import type { OptionValues } from "./option-spec.ts";
import type { columnOptions, outcomeOptions, partyOptions } from "./table-options.ts";

/** What the tables of options describe, with what only code sets. */
export interface SimulateOptions
  extends
    OptionValues<typeof columnOptions>,
    OptionValues<typeof partyOptions>,
    Partial<Omit<OptionValues<typeof outcomeOptions>, "check">> {
  readonly job: GivenJob;
  /** Weights and other per-row columns, by name or position; the active party holds them. */
  readonly rowColumns?: RowColumnChoice;
  /** Test on this fold of a cross-validation instead of `testFraction`. */
  readonly fold?: { readonly index: number; readonly count: number } | undefined;
  readonly check: boolean;
  /** Folder for what each party records; left out: nothing is kept. */
  readonly keep?: { readonly directory: string; readonly job: string } | undefined;
  readonly onEvent: (event: PartyEvent) => void;
}

/** The job with its defaults. @throws TandemError for options that are invalid for any table */
export async function checkOptions(options: SimulateOptions): Promise<Job> {
  const job = resolveJob({ ...options.job, name: options.keep?.job ?? "local" }, refuseOption);
  if (options.passives.length === 0)
    throw new TandemError("USAGE", "--passive is missing: name the columns of at least one passive party");
  // refuses an objective that XGBoost does not have
  if (options.export !== undefined) requireXgboostForm(objectiveFor(job.training.objective));
  for (const path of [options.export, options.predictions]) if (path !== undefined) await requireWritable(path);
  return job;
}

const refuseOption: Refuse = (field, what, form) =>
  new TandemError("USAGE", form === "sentence" ? what : `${optionOf(field)} ${what}`);

/** ["training", "max_depth"] of a config is --max-depth on the command line. */
function optionOf(field: readonly string[]): string {
  return `--${field[field.length - 1].replaceAll("_", "-")}`;
}

/** Checked before training, which may take hours. */
async function requireWritable(path: string): Promise<void> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isFolder) throw new TandemError("FILE_UNWRITABLE", `${path} is a folder: name a file in it`);
  try {
    await access(dirname(path), constants.W_OK);
  } catch (cause) {
    throw new TandemError("FILE_UNWRITABLE", `${path} cannot be written: its folder is missing or not writable`, {
      cause,
    });
  }
}
