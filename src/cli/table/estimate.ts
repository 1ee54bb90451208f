/** `tandem estimate`: predicts time, traffic and memory of a simulation with each scheme. */
import { availableParallelism } from "node:os";
import { Command } from "commander";
import { TandemError } from "../../base/error.ts";
import { formatBytes, formatMilliseconds, formatSeconds } from "../../base/text/format.ts";
import type { Estimate, EstimateQuestions, Estimates } from "../../simulate/estimate.ts";
import { revealedTexts } from "../../simulate/scheme-advice.ts";
import { addJobOptions, type JobFlags, jobFrom } from "./job-options.ts";
import type { PartyEvent } from "../../record/events.ts";
import { memoryBytes } from "../company/memory-size.ts";
import { crewText } from "../terminal/crew-text.ts";
import { openProgress } from "../terminal/progress-options.ts";
import { textTable } from "../terminal/text-table.ts";
import { wholeNumber } from "../whole-number.ts";

interface EstimateFlags extends JobFlags {
  readonly json?: boolean;
  readonly rows?: string;
  readonly workers?: string;
  readonly threads?: string;
  readonly memory?: string;
  readonly bandwidth?: string;
  readonly roundTrip?: string;
}

const rowsMax = 1e12;
const workersMax = 4096;
const threadsMax = 256;
const megabitsMax = 1e6;
const roundTripMsMax = 10_000;
const defaultRoundTripMs = "20";
const smallTables = "small tables may take up to four times as long";

export function estimateCommand(): Command {
  const command = new Command("estimate").description(
    `predict time, traffic and memory of a simulation with each scheme; ${smallTables}`,
  );
  return addJobOptions(command)
    .option("--json", "print the result as one line of JSON")
    .optionsGroup("What if:")
    .option("--rows <count>", "predict for this number of training rows")
    .option("--bandwidth <Mb/s>", "predict for parties on hosts of their own, over a line of this bandwidth")
    .option("--round-trip <ms>", "round-trip time of that line (default: 20)")
    .option("--workers <count>", "predict for this number of workers per passive party (docs/scale-out.md)")
    .option("--threads <count>", "threads of each worker (default: as many as this machine has cores)")
    .option("--memory <size>", "memory limit per worker, for example 48GB: predict how many are needed")
    .action(async (flags: EstimateFlags) => {
      const questions = questionsOf(flags);
      const { estimate } = await import("../../simulate/estimate.ts");
      const { partiesOf } = await import("../../simulate/simulate-options.ts");
      const job = jobFrom(flags);
      const progress = await openProgress(flags, partiesOf(job)[0].name);
      const onEvent = (event: PartyEvent): void => progress.handle(event);
      const options = { ...job, check: false, onEvent };
      const result = await estimate(options, questions).finally(() => progress.close());
      process.stdout.write(`${flags.json === true ? JSON.stringify(result) : readable(result)}\n`);
    });
}

/** @throws TandemError USAGE */
function questionsOf({ rows, workers, threads, memory, bandwidth, roundTrip }: EstimateFlags): EstimateQuestions {
  const asksCrew = workers !== undefined || memory !== undefined;
  if (threads !== undefined && !asksCrew)
    throw new TandemError("USAGE", "--threads sets the threads of a worker: give --workers too");
  if (roundTrip !== undefined && bandwidth === undefined)
    throw new TandemError("USAGE", "--round-trip belongs to a line: give --bandwidth too");
  const memoryBytesMax = memory === undefined ? null : memoryBytes("--memory", memory);
  return {
    rows: rows === undefined ? undefined : wholeNumber("--rows", rows, 1, rowsMax),
    line:
      bandwidth === undefined
        ? undefined
        : {
            megabitsPerSecond: wholeNumber("--bandwidth", bandwidth, 1, megabitsMax),
            roundTripMs: wholeNumber("--round-trip", roundTrip ?? defaultRoundTripMs, 0, roundTripMsMax),
          },
    crew: asksCrew
      ? {
          workers: workers === undefined ? null : wholeNumber("--workers", workers, 1, workersMax),
          threads: threads === undefined ? availableParallelism() : wholeNumber("--threads", threads, 1, threadsMax),
          memoryBytesMax,
        }
      : undefined,
  };
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
      ...(possible[0].estimate.overLine === undefined
        ? []
        : [
            row("on hosts of their own, over the line", ({ overLine }) => formatSeconds(overLine?.wallSeconds ?? 0)),
            row("per tree over the line", ({ overLine }) => formatSeconds(overLine?.secondsPerTree ?? 0)),
          ]),
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
      row("bits of a gradient", ({ resolutionBits }) => String(resolutionBits)),
      row("kernel", ({ kernel }) => kernel),
    ]),
    ...crewText(possible),
    ...schemes.flatMap(({ scheme, key, membership, refusal }) => [
      "",
      refusal === null ? `  ${scheme}: ${key}. Apart from sums it reveals` : `  ${scheme} is not possible: ${refusal}`,
      ...(refusal === null ? revealedTexts[membership].map((line) => `    ${line}`) : []),
    ]),
    "",
    `  recommended: ${recommended.scheme}, since ${recommended.why}.`,
    `  ${cores} cores; memory is what the scheme needs besides tables and the program; ${smallTables}`,
    "",
  ].join("\n");
}
