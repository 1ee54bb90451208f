/** `tandem align`: private set intersection only. */
import type { Command } from "commander";
import { activeConfig, companyCommand, type CompanyFlags } from "./company-process.ts";
import { openProgress } from "../terminal/progress-options.ts";
import { textTable } from "../terminal/text-table.ts";

interface AlignFlags extends CompanyFlags {
  readonly out?: string;
}

export function alignCommand(): Command {
  return companyCommand("align", "only find the ids that all parties share (private set intersection)")
    .option("--out <file>", "where to write this party's aligned rows (default: aligned.csv in the job's folder)")
    .action(runAlign);
}

async function runAlign(flags: AlignFlags): Promise<void> {
  const { runAlignment } = await import("../../party/active/run.ts");
  const config = await activeConfig(flags.config);
  const progress = await openProgress({}, config.name);
  const { path, aligned } = await runAlignment(config, flags.out, (event) => progress.handle(event));
  progress.close();
  const rows = aligned.pairwise.map(({ peer, idCount, sharedCount }) => [
    peer,
    idCount.toLocaleString("en"),
    sharedCount.toLocaleString("en"),
  ]);
  const table = textTable([["party", "ids", "shared with us"], ...rows]);
  const common = aligned.rows.length.toLocaleString("en");
  process.stdout.write(`\n${table}\n\n  ${common} shared ids; aligned rows of this party: ${path}\n`);
}
