/** `tandem estimate`: what a simulation would take, before it is started. */
import { Command } from "commander";
import { formatBytes, formatSeconds } from "../base/format.ts";
import type { Estimate } from "../experiment/simulate/estimate.ts";
import { addJobOptions, type JobFlags, jobFrom } from "./job-options.ts";
import { textTable } from "./terminal/text-table.ts";

const smallTables = "small tables may take up to four times as long";

export function estimateCommand(): Command {
  const command = new Command("estimate").description(
    `predict how long a simulation with these options takes, and what it sends; ${smallTables}`,
  );
  return addJobOptions(command)
    .option("--json", "print the result as one line of JSON")
    .action(async (flags: JobFlags & { readonly json?: boolean }) => {
      const { estimate } = await import("../experiment/simulate/estimate.ts");
      const result = await estimate({ ...jobFrom(flags), check: false, onEvent: () => {} });
      process.stdout.write(`${flags.json === true ? JSON.stringify(result) : readable(result)}\n`);
    });
}

function readable(estimate: Estimate): string {
  return [
    "",
    textTable([
      ["predicted", ""],
      ["all parties on this machine", formatSeconds(estimate.wallSeconds)],
      ["per tree", formatSeconds(estimate.secondsPerTree)],
      ["CPU of the active party", formatSeconds(estimate.activeCpuSeconds)],
      ...estimate.passiveCpuSeconds.map((seconds, i) => [`CPU of passive party ${i + 1}`, formatSeconds(seconds)]),
      ["active to passives", formatBytes(estimate.bytes.activeToPassive)],
      ["passives to active", formatBytes(estimate.bytes.passiveToActive)],
    ]),
    "",
    `  ${estimate.kernel} kernel, ${estimate.cores} cores; ${smallTables}`,
    "",
  ].join("\n");
}
