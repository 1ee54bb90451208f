/** The effect of workers, per party and scheme, for `tandem estimate`. */
import { formatBytes, formatCount, formatMilliseconds } from "../../base/text/format.ts";
import { type CrewEstimate, lineBytesPerSecond } from "../../simulate/crew-estimate.ts";
import type { Estimate } from "../../simulate/estimate.ts";
import { textTable } from "./text-table.ts";

interface Outlook {
  readonly scheme: string;
  readonly estimate: Estimate;
}

/** Empty unless workers were asked for. */
export function crewText(outlooks: readonly Outlook[]): string[] {
  const asked = outlooks.filter(({ estimate }) => estimate.crews !== undefined && estimate.crews.length > 0);
  const parties = asked[0]?.estimate.crews ?? [];
  const tables = parties.flatMap((_, party) => ["", partyTable(asked, party), ...bottlenecks(asked, party)]);
  return tables.length === 0 ? [] : [...tables, ...assumptions(asked[0].estimate)];
}

function partyTable(outlooks: readonly Outlook[], party: number): string {
  const row = (title: string, cell: (crew: CrewEstimate) => string): string[] => [
    title,
    ...outlooks.map(({ estimate }) => cell(crewOf(estimate, party))),
  ];
  const perTree = (seconds: number): string => formatMilliseconds(1000 * seconds);
  return textTable([
    [`workers of passive party ${party + 1}`, ...outlooks.map(({ scheme }) => scheme)],
    row("workers x threads", ({ workers, threads }) => `${formatCount(workers)} x ${threads}`),
    row("blocks", ({ blocks, rowsPerBlock }) => `${formatCount(blocks)} of ${formatCount(rowsPerBlock)} rows`),
    row("blocks per worker, at most", ({ blocksPerWorker }) => formatCount(blocksPerWorker)),
    row("memory per worker", ({ workerMemoryBytes }) => formatBytes(workerMemoryBytes)),
    ...memoryRow(outlooks, party),
    row("to a worker, per tree", ({ workerBytesPerTree }) => formatBytes(workerBytesPerTree.sent)),
    row("from a worker, per tree", ({ workerBytesPerTree }) => formatBytes(workerBytesPerTree.answered)),
    row("through the engine, per tree", ({ engineBytesPerTree: { sent, answered } }) => formatBytes(sent + answered)),
    row("active party, per tree", ({ activeSecondsPerTree }) => perTree(activeSecondsPerTree)),
    row("the party's own process, per tree", ({ partySecondsPerTree }) => perTree(partySecondsPerTree)),
    row("each worker, per tree", ({ workerSecondsPerTree }) => perTree(workerSecondsPerTree)),
    row("line between the companies, per tree", ({ lineSecondsPerTree }) => perTree(lineSecondsPerTree)),
    row("total, per tree", ({ secondsPerTree }) => perTree(secondsPerTree)),
  ]);
}

/** Only with a memory limit per worker. */
function memoryRow(outlooks: readonly Outlook[], party: number): string[][] {
  const crews = outlooks.map(({ estimate }) => crewOf(estimate, party));
  if (!crews.some(({ memoryBytesMax }) => memoryBytesMax !== null)) return [];
  const [{ memoryBytesMax }] = crews;
  const needed = ({ workersForMemory }: CrewEstimate): string =>
    workersForMemory === null ? "no number is enough" : formatCount(workersForMemory);
  return [[`workers of ${formatBytes(memoryBytesMax ?? 0)} needed`, ...crews.map(needed)]];
}

function bottlenecks(outlooks: readonly Outlook[], party: number): string[] {
  return outlooks.map(({ scheme, estimate }) => `  ${scheme}: the slowest is ${crewOf(estimate, party).bottleneck}.`);
}

function assumptions({ cores }: Estimate): string[] {
  const line = formatBytes(lineBytesPerSecond);
  return [
    `  The active party and the party's own process have ${cores} cores each, as this machine; a worker's cores are as`,
    `  fast as these; one line between two companies carries ${line} a second.`,
  ];
}

function crewOf({ crews }: Estimate, party: number): CrewEstimate {
  if (crews === undefined) throw new RangeError("no crews were asked for");
  return crews[party];
}
