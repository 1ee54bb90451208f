/**
 * A job in memory whose passive party loses its process in the middle of trees. Both parties resume from their files
 * only, as after a restart.
 */
import type { Storage } from "../../src/base/files/storage.ts";
import { SimulatedDisk } from "../world/faults/simulated-storage.ts";
import type { ActiveProgress } from "../../src/protocol/active/role.ts";
import type { SchemeSecret } from "../../src/scheme/scheme.ts";
import {
  type ActiveCheckpoint,
  checkpointPath,
  readActiveCheckpoint,
  writeActiveCheckpoint,
} from "../../src/store/active-checkpoint.ts";
import { addAnsweredNodes, readAnsweredNodes } from "../../src/store/answered-nodes.ts";
import { readProgress, writeProgress } from "../../src/store/passive-checkpoint.ts";
import { addRoundLine } from "../../src/store/round-lines.ts";
import { type TestJob, type TestOutcome, trainFederated } from "./in-memory-job.ts";

const [bank, shop, run] = ["bank", "shop", "00"];
/** Keys and orders are the test's own: they stay the same without being stored. */
const secret: SchemeSecret = { scheme: "test", serialise: () => "" };
const begun: ActiveCheckpoint = {
  identity: {},
  jobId: new Uint8Array(1),
  secret,
  seed: new Uint8Array(32),
  samplingSecret: "",
  aligned: null,
  start: null,
  progress: null,
};

type Break = "split" | "node" | "opening";

export interface BrokenOutcome extends TestOutcome {
  /** Trees that the active party had stored at each break. */
  readonly treesAtBreaks: readonly number[];
}

/**
 * @param trees in which the party's process ends, once it has stored a split and before it has sent it; ascending. With
 *   hidden members also "node": once it has stored its second answer of the tree. With hidden sums also "opening":
 *   once it has stored what opens the best candidates of a level
 */
export async function trainBrokenOff(
  job: TestJob,
  trees: readonly number[],
  at: Break = "split",
): Promise<BrokenOutcome> {
  if (job.table.parties.length !== 2) throw new Error("an interrupted job has one passive party");
  const disk = new SimulatedDisk().storage(() => false, { ticks: () => 0, before() {}, after() {} });
  const activeProgress = async (): Promise<ActiveProgress | undefined> =>
    (await readActiveCheckpoint(bank, { readSecret: async () => secret }, disk))?.progress ?? undefined;
  const treesAtBreaks: number[] = [];
  for (const tree of trees) {
    if ((await attempt(job, disk, await activeProgress(), tree, at)) !== null)
      throw new Error(`the passive party has no split in tree ${tree}: nothing was broken off`);
    treesAtBreaks.push((await activeProgress())?.trees.length ?? 0);
  }
  const outcome = await attempt(job, disk, await activeProgress(), -1, at);
  if (outcome === null) throw new Error("a process ended without being interrupted");
  return { ...outcome, treesAtBreaks };
}

/** @returns null if the passive party's process ended in this tree */
async function attempt(
  job: TestJob,
  disk: Storage,
  progress: ActiveProgress | undefined,
  breaksIn: number,
  at: Break,
): Promise<TestOutcome | null> {
  let isGone = false;
  let isWritten = false;
  try {
    return await trainFederated({
      ...job,
      permutationSecrets: [new Uint8Array(32)],
      stored: {
        progress: await readProgress(shop, run, disk),
        store: async (now) => {
          if (!isGone) await writeProgress(shop, run, now, disk);
          isGone ||= at === "split" && now.splits.some(({ tree }) => tree === breaksIn);
          isGone ||= at === "opening" && now.opened.some(({ tree }) => tree === breaksIn);
          if (isGone) throw new Error("the process is gone");
        },
        nodeJournal: {
          read: () => readAnsweredNodes(shop, run, disk),
          add: async (nodes) => {
            if (!isGone) await addAnsweredNodes(shop, run, nodes, disk);
            isGone ||= at === "node" && nodes.some(({ tree, node }) => tree === breaksIn && node > 0);
            if (isGone) throw new Error("the process is gone");
          },
        },
      },
      activeStored: {
        ...(progress === undefined ? {} : { progress }),
        // As ActiveCheckpoints does: whole at first and in the middle of a boosting round, otherwise a line.
        store: async (now, round) => {
          if (isWritten && now.boostingRoundMargins === undefined)
            await addRoundLine(checkpointPath(bank), begun.jobId, now, round, disk);
          else await writeActiveCheckpoint(bank, { ...begun, progress: now }, disk);
          isWritten = true;
        },
      },
    });
  } catch (error) {
    if (isGone) return null;
    throw error;
  }
}
