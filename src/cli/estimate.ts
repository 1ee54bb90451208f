/** `tandem estimate`: what a simulation would take, before it is started, with either scheme. */
import { Command } from "commander";
import { formatBytes, formatMilliseconds, formatSeconds } from "../base/text/format.ts";
import type { Estimate, Estimates } from "../experiment/simulate/estimate.ts";
import { revealedWords } from "../experiment/simulate/scheme-advice.ts";
import { addJobOptions, type JobFlags, jobFrom } from "./job-options.ts";
import type { PartyEvent } from "../record/events.ts";
import { Progress } from "./terminal/progress.ts";
import { textTable } from "./terminal/text-table.ts";

const smallTables = "small tables may take up to four times as long";

export function estimateCommand(): Command {
  const command = new Command("estimate").description(
    `predict how long a simulation with these options takes with either scheme, and what it sends; ${smallTables}`,
  );
  return addJobOptions(command)
    .option("--json", "print the result as one line of JSON")
    .action(async (flags: JobFlags & { readonly json?: boolean }) => {
      const { estimate } = await import("../experiment/simulate/estimate.ts");
      const progress = Progress.onStandardError(flags, "active");
      const onEvent = (event: PartyEvent): void => progress.handle(event);
      const result = await estimate({ ...jobFrom(flags), check: false, onEvent }).finally(() => progress.close());
      process.stdout.write(`${flags.json === true ? JSON.stringify(result) : readable(result)}\n`);
    });
}

function readable({ schemes, recommended, cores }: Estimates): string {
  const possible = schemes.flatMap(({ scheme, estimate }) => (estimate === null ? [] : [{ scheme, estimate }]));
  const row = (title: string, cell: (estimate: Estimate) => string): string[] => [
    title,
    ...possible.map(({ estimate }) => cell(estimate)),
  ];
  const parties = possible[0].estimate.passiveCpuSeconds.map((_, i) => i);
  return [
    "",
    textTable([
      ["predicted", ...possible.map(({ scheme }) => scheme)],
      row("all parties on this machine", ({ wallSeconds }) => formatSeconds(wallSeconds)),
      row("per tree", ({ secondsPerTree }) => formatMilliseconds(1000 * secondsPerTree)),
      row("CPU of the active party", ({ activeCpuSeconds }) => formatSeconds(activeCpuSeconds)),
      ...parties.map((i) =>
        row(`CPU of passive party ${i + 1}`, ({ passiveCpuSeconds }) => formatSeconds(passiveCpuSeconds[i])),
      ),
      row("active to passives", ({ bytes }) => formatBytes(bytes.activeToPassive)),
      row("passives to active", ({ bytes }) => formatBytes(bytes.passiveToActive)),
      row("memory of the active party", ({ memoryBytes }) => formatBytes(memoryBytes.active)),
      ...parties.map((i) =>
        row(`memory of passive party ${i + 1}`, ({ memoryBytes }) => formatBytes(memoryBytes.passives[i])),
      ),
      row("kernel", ({ kernel }) => kernel),
    ]),
    ...schemes.flatMap(({ scheme, key, hidesMembers, refusal }) => [
      "",
      refusal === null ? `  ${scheme}: ${key}. Besides sums it tells` : `  ${scheme} is not possible: ${refusal}`,
      ...(refusal === null ? revealedWords({ hidesMembers }).map((line) => `    ${line}`) : []),
    ]),
    "",
    `  recommended: ${recommended.scheme}, since ${recommended.why}.`,
    `  ${cores} cores; memory is what the scheme needs besides tables and the program; ${smallTables}`,
    "",
  ].join("\n");
}
