/** `tandem vet`: what each column is worth for a label, before a model is trained. */
import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Command } from "commander";
import { TandemError } from "../../base/error.ts";
import { writeFileAtomically } from "../../base/files/atomic-file.ts";
import { besideTaskCrew } from "../../api/beside-crew.ts";
import type { Vetting } from "../../record/vetting/vetting.ts";
import { addLeakageOptions, explainFirst, type LeakageFlags } from "../leakage.ts";
import { writeTables } from "../tables-csv.ts";
import { addExamples } from "../terminal/help-text.ts";
import { addProgressOptions, openProgress, type ProgressFlags } from "../terminal/progress-options.ts";
import { vettingBrief, vettingText } from "../terminal/vetting-text.ts";
import { refuseWithConfig } from "../table/job-options.ts";
import { addTableOptions, readTableOptions } from "../table/table-flags.ts";
import { columnOptions, partyOptions } from "../../simulate/table-options.ts";
import { wholeNumber } from "../whole-number.ts";
import { addCrewOption, type CrewFlags } from "./crew-option.ts";

interface VetFlags extends ProgressFlags, LeakageFlags, CrewFlags {
  readonly config?: string;
  readonly bins: string;
  readonly out?: string;
  readonly csv?: string;
  readonly [option: string]: unknown;
}

const binsUsual = 10;
const [binsMin, binsMax] = [2, 100];

const { data, label, id, positive } = columnOptions;
const { format, header, missing, categorical } = partyOptions;
/** Of a table of one's own. */
const tableOptions = { data, label, id, positive, format, header, missing, categorical };

export function vetCommand(): Command {
  const command = new Command("vet")
    .description("what each column is worth for a label by itself: information value, AUC, missing values, drift")
    .option("-c, --config <file>", "between companies: the active party's config, for the columns of all parties");
  addTableOptions(command, tableOptions, false);
  command
    .option("--bins <count>", `bins of a column of numbers, ${binsMin} to ${binsMax}`, String(binsUsual))
    .option("--out <file>", "where to write the page (default: vetting.html, with --config in the job's folder)")
    .option("--csv <folder>", "write the tables as CSV files");
  addCrewOption(addLeakageOptions(addProgressOptions(command))).action((flags: VetFlags, own: Command) =>
    runVet(flags, own),
  );
  return addExamples(
    command,
    "tandem vet -c active.yaml",
    "tandem vet --data loans.csv --id customer --label defaulted --csv tables",
  );
}

async function runVet(flags: VetFlags, command: Command): Promise<void> {
  const bins = wholeNumber("--bins", flags.bins, binsMin, binsMax);
  await (flags.config === undefined ? ofTable(flags, bins) : betweenCompanies(flags, flags.config, bins, command));
}

async function ofTable(flags: VetFlags, bins: number): Promise<void> {
  if (flags["data"] === undefined || flags["label"] === undefined)
    throw new TandemError(
      "USAGE",
      "vet needs --config for the columns of all parties, or --data and --label for those of a table",
    );
  if (flags.explainLeakage === true || flags.dryRun === true)
    throw new TandemError("USAGE", "--explain-leakage and --dry-run need --config: on one table nothing is revealed");
  const { vetTable } = await import("../../simulate/vet-table.ts");
  const progress = await openProgress(flags);
  const vetting = await vetTable(readTableOptions(tableOptions, flags), bins, (words) =>
    progress.line(`note: ${words}`),
  );
  progress.close();
  await write(flags, vetting, resolve(flags.out ?? "vetting.html"));
}

async function betweenCompanies(flags: VetFlags, path: string, bins: number, command: Command): Promise<void> {
  const allowed = "config bins out csv json quiet explainLeakage dryRun embedded".split(" ");
  refuseWithConfig(command, allowed);
  const [{ readActiveConfig }, { newJobName }, { runVetting, vettingConfig }] = await Promise.all([
    import("../../party/config/config.ts"),
    import("../../party/active/checkpoints.ts"),
    import("../../party/active/vetting.ts"),
  ]);
  // A new name every time: it neither resumes a job nor blocks one.
  const read = await readActiveConfig(path, () => "vet");
  const config = vettingConfig(read, newJobName(new Date()).replace("job", "vet"), bins);
  // Printed even with --quiet, since it concerns the other parties too.
  process.stderr.write(`${vettingBrief(config)}\n`);
  const facts = async () => {
    const [{ activeFacts }, { readActiveTables }] = await Promise.all([
      import("../../party/active/disclosure-facts.ts"),
      import("../../party/active/tables.ts"),
    ]);
    return activeFacts(config, await readActiveTables(config));
  };
  if (!(await explainFirst(flags, `vetting ${config.job.name}`, facts))) return;
  const progress = await openProgress(flags, config.name);
  const tell = progress.handle.bind(progress);
  const { vetting, folder } = await besideTaskCrew(config, flags, tell, (world) =>
    runVetting(config, tell, world),
  ).finally(() => progress.close());
  await write(flags, vetting, flags.out === undefined ? join(folder, "vetting.html") : resolve(flags.out));
}

async function write(flags: VetFlags, vetting: Vetting, page: string): Promise<void> {
  const [{ vettingReport }, { vettingTables }] = await Promise.all([
    import("../../../web/report/reports.js"),
    import("../../record/vetting/tables.ts"),
  ]);
  const written = [page];
  await mkdir(dirname(page), { recursive: true });
  await writeFileAtomically(page, vettingReport(vetting, new Date()), 0o600);
  if (flags.csv !== undefined) written.push(...(await writeTables(flags.csv, vettingTables(vetting))));
  process.stdout.write(
    flags.json === true
      ? `${JSON.stringify({ ...vetting, files: written })}\n`
      : `${vettingText(vetting)}\n${written.map((path) => `  wrote ${path}\n`).join("")}`,
  );
}
