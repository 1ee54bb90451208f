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

/** A party of a simulation: its name, the columns that it is given, and the option that gives them. */
export interface SimulatedParty {
  readonly name: string;
  readonly columns: readonly string[];
  readonly option: string;
}

/** All parties, the active one first. @throws TandemError USAGE if there is no passive one, or two have one name */
export function partiesOf({ active, passives, party: named = [] }: PartiesOfOptions): SimulatedParty[] {
  const takesFirst = active.length === 0 && named.length > 0;
  const ofNamed = named.map(({ name, columns }) => ({ name, columns, option: `--party ${name}` }));
  const parties = [
    takesFirst ? ofNamed[0] : { name: "active", columns: active, option: "--active" },
    ...passives.map((columns, i) => ({
      name: `passive-${i + 1}`,
      columns,
      option: `--passive ${columns.join(",")}`,
    })),
    ...ofNamed.slice(takesFirst ? 1 : 0),
  ];
  if (parties.length === 1)
    throw new TandemError(
      "USAGE",
      named.length === 0
        ? "--passive is missing: name the columns of at least one passive party"
        : `${ofNamed[0].option} is the only party: add --party for another one, or --active for the columns of the ` +
            "party with the labels",
    );
  const twice = parties.find(({ name }, i) => parties.findIndex((other) => other.name === name) < i);
  if (twice !== undefined) throw new TandemError("USAGE", `two parties are named '${twice.name}'`);
  return parties;
}

type PartiesOfOptions = Pick<SimulateOptions, "active" | "passives" | "party">;

/** The job with its defaults. @throws TandemError for options that are invalid for any table */
export async function checkOptions(options: SimulateOptions): Promise<Job> {
  const job = resolveJob({ ...options.job, name: options.keep?.job ?? "local" }, refuseOption);
  partiesOf(options);
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
