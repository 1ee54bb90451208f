/**
 * The active party's process: reads data and labels, aligns, generates a key, trains with the passive parties,
 * predicts, and stores the share (attempts.ts, model-training.ts). The process may end at any moment: the same command
 * continues the job.
 */
import { membershipFlag } from "../../record/membership.ts";
import { configNames, schemeNamed, schemeWarning } from "../../scheme/registry.ts";
import { join } from "node:path";
import { TandemError } from "../../base/error.ts";
import type { TrainingParameters } from "../../gbdt/parameters/training-parameters.ts";
import { unusedParameters } from "../../gbdt/parameters/unused-parameters.ts";
import { formText } from "../preset-form.ts";
import { programVersion } from "../../base/program-version.ts";
import { treesPerBoostingRound } from "../../protocol/job-parameters.ts";
import { protocolVersion } from "../../wire/version.ts";
import { JobAttempts } from "./attempts.ts";
import { ActiveCheckpoints, makeJobFolder } from "./checkpoints.ts";
import { ModelTraining } from "./model-training.ts";
import { type AlignedRows, alignTables, readActiveTables, ReadTables, withClassesOf } from "./tables.ts";
import { type ActiveWorld, realWorld } from "./world.ts";
import { alignmentRequest, requestJob } from "./request-job.ts";
import { connectWatched } from "./watched-peers.ts";
import { requireAll } from "../checks/check.ts";
import { writableFile } from "../checks/own-machine.ts";
import type { ActiveConfig } from "../config/config.ts";
import { recordedDefences } from "../privacy-policy.ts";
import type { Emit, EventOf } from "../../record/events.ts";
import { earlierVettings } from "../../record/vetting-log.ts";
import type { JobNotes } from "../../record/job-record.ts";
import { readStart } from "../model/start-model.ts";

export async function runActive(given: ActiveConfig, emit: Emit, world: ActiveWorld = realWorld): Promise<void> {
  await world.ownFiles?.(given, emit);
  const release = await world.lock(join(given.output.directory, given.job.name));
  try {
    const form = formText(given.job);
    const notices = [
      ...unusedParameters(given.job.training),
      ...(form === null ? [] : [form]),
      ...objectiveNotices(given, world),
    ];
    const read = new ReadTables(await readActiveTables(given, (words) => notices.push(words)));
    const classed = withClassesOf(given, read.tables);
    const checkpoints = await ActiveCheckpoints.open(classed, read.tables, world.storage);
    const start =
      checkpoints.checkpoint === null
        ? await readStart(classed, read.tables[0].rows.table)
        : checkpoints.checkpoint.start;
    const config = { ...classed, job: { ...classed.job, start } };
    await recorded(config, emit, world, checkpoints.folder, async (tell, notes) => {
      for (const words of notices) tell({ type: "notice", party: config.name, words });
      for (const { name } of checkpoints.checkpoint === null ? config.passives : [])
        for (const vetting of earlierVettings(config.output.directory, config.name, name)) notes.own(vetting);
      const training = new ModelTraining(config, checkpoints, tell, notes, world);
      try {
        await new JobAttempts(config, read, training, tell, world).untilDone();
      } finally {
        training.close();
      }
    });
  } finally {
    await release();
  }
}

/** @throws TandemError USAGE for settings that a custom objective does not support */
function objectiveNotices(
  { output, compare_alone: isCompared }: ActiveConfig,
  { objective }: ActiveWorld,
): readonly string[] {
  if (objective === undefined) return [];
  const refused = output.verifiable ? "output.verifiable" : isCompared === true ? "compare_alone" : null;
  if (refused !== null)
    throw new TandemError(
      "USAGE",
      `${refused} needs gradients that others can compute; '${objective.name}' is the caller's own. Set it to false`,
    );
  return [`gradients are those of '${objective.name}', the caller's own objective`];
}

/** Records the job's events next to its results. */
export async function recorded<Result>(
  config: ActiveConfig,
  emit: Emit,
  world: ActiveWorld,
  folder: string,
  run: (emit: Emit, notes: JobNotes) => Promise<Result>,
): Promise<Result> {
  const notes = world.notes(folder);
  const tell: Emit = (event) => {
    notes.event(event);
    emit(event);
  };
  world.onRecords?.(tell);
  try {
    tell(jobEvent(config));
    return await run(tell, notes);
  } catch (error) {
    notes.event({
      type: "error",
      party: config.name,
      ...(error instanceof TandemError
        ? { code: error.code, message: error.message }
        : { code: "INTERNAL", message: "an internal error" }),
    });
    throw error;
  } finally {
    world.onRecords?.(emit);
    notes.close();
  }
}

function jobEvent({ name, job, passives, data, align }: ActiveConfig): EventOf<"job"> {
  const { training, codec, privacy, scheme, start } = job;
  return {
    type: "job",
    party: name,
    role: "active",
    job: job.name,
    peers: passives.map((passive) => passive.name),
    treeCount: (start?.trees.length ?? 0) + training.num_round * treesPerBoostingRound(training),
    ...(start === null ? {} : { startTrees: start.trees.length }),
    depthMax: training.max_depth,
    parameters: {
      ...listsAsText(training),
      resolution_bits: codec.resolution_bits,
      ...recordedDefences(privacy, scheme),
      scheme,
      ...configNames(job.schemeParameters),
      align,
      ...(data.classes === undefined ? {} : { classes: data.classes.join(", ") }),
      ...(start === null ? {} : { warm_start: start.model }),
    },
    ...schemeWarning(job),
    ...membershipFlag(schemeNamed(scheme).membership),
    versions: { tandem: programVersion(), protocol: protocolVersion, node: process.versions.node },
  };
}

const jobNameMax = 64;
const alignmentSuffix = "-alignment";

/** An alignment has a name of its own: a job of the same config may be under way. */
function alignmentName(job: string): string {
  return `${job.slice(0, jobNameMax - alignmentSuffix.length)}${alignmentSuffix}`;
}

/** Alignment alone; the rows that are common to all parties are written to `out`. */
export async function runAlignment(
  given: ActiveConfig,
  out: string | undefined,
  emit: Emit,
  world: ActiveWorld = realWorld,
): Promise<{ readonly path: string; readonly aligned: AlignedRows }> {
  const config = { ...given, job: { ...given.job, name: alignmentName(given.job.name) } };
  await world.ownFiles?.(config, emit);
  if (out !== undefined) requireAll([await writableFile("aligned rows", out, config.name)]);
  const tables = await readActiveTables(config);
  await world.partners?.(config, emit, false);
  const path = out ?? join(await makeJobFolder(config, world.storage), "aligned.csv");
  const peers = await connectWatched(world, config, emit);
  try {
    const rowCount = tables.reduce((sum, { rows }) => sum + rows.ids.ids.length, 0);
    await requestJob(peers, alignmentRequest(config, config.job.name, rowCount), { config, emit });
    return { path, aligned: await alignTables(tables, peers, config, emit, { path, storage: world.storage }) };
  } finally {
    for (const peer of peers) peer.close();
  }
}

/** As a record has them: a list is one text. */
function listsAsText(training: TrainingParameters): Record<string, number | string | boolean> {
  return Object.fromEntries(
    Object.entries(training).map(([name, value]) => [name, typeof value === "object" ? value.join(", ") : value]),
  );
}
