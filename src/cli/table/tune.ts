/** `tandem tune`: a search over parameters by cross-validation, on one table or between companies. */
import { Command, Option } from "commander";
import { addCrewOption, type CrewFlags } from "../company/crew-option.ts";
import { addJobOptions, type JobFlags } from "./job-options.ts";
import { addLeakageOptions, type LeakageFlags } from "../leakage.ts";
import { addExamples } from "../terminal/help-text.ts";
import { addProgressOptions, type ProgressFlags } from "../terminal/progress-options.ts";

export interface TuneFlags extends Partial<JobFlags>, ProgressFlags, LeakageFlags, CrewFlags {
  readonly config?: string;
  readonly trials: string;
  readonly folds: string;
  readonly method: "halving" | "random";
  readonly search?: string;
  readonly space?: string;
  readonly report?: string;
  readonly yes?: boolean;
}

export function tuneCommand(): Command {
  const command = new Command("tune").description("search over parameters by cross-validation");
  addCrewOption(addLeakageOptions(addProgressOptions(addJobOptions(command))))
    .option("-c, --config <file>", "between companies: the active party's config; all trials in one job")
    .option("--trials <count>", "number of trials; the first uses the given parameters", "20")
    .option("--folds <count>", "number of folds", "3")
    .addOption(
      new Option(
        "--method <name>",
        "successive halving (the better third gets more rounds), or all rounds for every trial",
      )
        .choices(["halving", "random"])
        .default("halving"),
    )
    .option("--search <list>", "the search space: 'eta=0.03..0.4:log max_depth=2..6 subsample=0.6|0.8|1'")
    .option("--space <file>", "the same in a file of YAML or JSON")
    .option("--report <file>", "where to write the report (default: tuning.html; with --config in the job's folder)")
    .option("--yes", "do not ask before starting")
    .action(async (flags: TuneFlags) => {
      const { onOneTable, betweenCompanies } = await import("./tune-run.ts");
      await (flags.config === undefined ? onOneTable(flags) : betweenCompanies(flags, flags.config, command));
    });
  // Required only without --config.
  for (const option of command.options) option.makeOptionMandatory(false);
  // Accepted only to be refused with a reason.
  for (const option of command.options) if (/^--(test|validation)-/.test(option.long ?? "")) option.hideHelp();
  return addExamples(
    command,
    "tandem tune -c active.yaml --trials 20 --folds 3",
    "tandem tune --data loans.csv --label defaulted --active income,age --passive visits,basket",
  );
}
