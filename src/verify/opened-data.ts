/** Checks that the opened data is what its owner committed to, and that it can be trained on. */
import { BoostingTask } from "../gbdt/boost/boosting-task.ts";
import { FoldTurns } from "../gbdt/boost/fold-turns.ts";
import { binIndexCount } from "../gbdt/split/binning.ts";
import { activeFacts, passiveFacts } from "../party/job-facts.ts";
import { commitmentTo, type Facts } from "../protocol/chain/commitment.ts";
import { agreedParameters, firstTreeOf } from "../protocol/job-parameters.ts";
import { schemeNamed } from "../scheme/registry.ts";
import { fromHex, rowsFrom, toHex } from "../store/stored-numbers.ts";
import { firstChange } from "./kept-evidence.ts";
import { featureFrom, jobIn, type Opening, rowsIn } from "./opening.ts";
import { secretsIn, startIn } from "./open-job.ts";

/** What is wrong with an opening alone; empty: nothing. */
export async function dataFaults(opening: Opening): Promise<string[]> {
  const { own, opened } = opening;
  const faults: string[] = [];
  if (toHex(commitmentTo(fromHex(opened.salt), opened.facts)) !== own.commitment)
    faults.push("its opening is not what it has committed to");
  const changed = await changedFact(opening);
  if (changed !== null) faults.push(`its opened data does not match its commitment: ${changed}`);
  else if (!isUsable(opening)) faults.push("its committed data is not valid for this job");
  return faults;
}

async function changedFact(opening: Opening): Promise<string | null> {
  try {
    return firstChange(opening.opened.facts, await factsIn(opening));
  } catch {
    return "it cannot be read";
  }
}

/** The facts, recomputed from the opened data. */
async function factsIn({ name, job, features: stored, active, opened: { facts } }: Opening): Promise<Facts> {
  const features = stored.map(featureFrom);
  const idsDigest = fromHex(String(facts["ids"])); // ids are not opened: both parties have the same digest of them
  if (active === undefined) {
    const instanceCount = features[0]?.bins.length ?? Number(facts["people"]);
    return passiveFacts({ name, idsDigest, instanceCount, features, ...secretsIn(facts) });
  }
  return activeFacts({
    name,
    passives: active.passives.map((passive) => ({ name: passive })),
    job: jobIn(job, active),
    idsDigest,
    rows: rowsIn(active),
    features,
    samplingSecret: String(facts["sampling"]),
    secret: await schemeNamed(active.scheme).readSecret(String(facts["key"])),
    seed: fromHex(String(facts["seed"])),
    start: startIn(facts),
    folds: active.folds.length,
  });
}

/**
 * Whether a party could have taken part with its committed data. Labels must be in the range of the objective: then its
 * gradients are in theirs.
 */
function isUsable({ job, active, features, firstTree, opened: { facts } }: Opening): boolean {
  const people = Number(facts["people"]);
  const isBinned = features
    .map(featureFrom)
    .every((feature) => feature.bins.length === people && feature.bins.every((bin) => bin < binIndexCount(feature)));
  if (active === undefined) return isBinned;
  try {
    const given = jobIn(job, active);
    const rows = rowsIn(active);
    const task = new BoostingTask(given.training, rows, false); // checks labels and columns
    const folds = active.folds.map(rowsFrom);
    const training = folds.length === 0 ? given.training : new FoldTurns(given.training, rows, folds).whole;
    const first = firstTreeOf(agreedParameters({ ...given, training }));
    return isBinned && task.rows.count === people && (facts["start"] !== "" || firstTree === first);
  } catch {
    return false;
  }
}
