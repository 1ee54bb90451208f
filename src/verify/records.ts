/** Checks that openings match what their parties committed to and signed, and that they agree on the messages. */
import { X509Certificate } from "node:crypto";
import { activeFacts, passiveFacts } from "../party/job-facts.ts";
import { isSigned } from "../party/job-chain.ts";
import { commitmentTo, type Facts } from "../protocol/chain/commitment.ts";
import { isSame } from "../protocol/chain/entries.ts";
import { firstLink, nextLink, signedText } from "../protocol/chain/pair-chain.ts";
import { schemeNamed } from "../scheme/registry.ts";
import { bytesFrom, fromHex, toHex } from "../store/stored-numbers.ts";
import { certificateFingerprint } from "../transport/pinned-certificate.ts";
import type { Finding } from "./findings.ts";
import { firstChange } from "./kept-evidence.ts";
import { featureFrom, jobIn, type Opening, rowsIn } from "./opening.ts";
import { secretsIn, startIn } from "./open-job.ts";

export async function checkRecord(opening: Opening): Promise<Finding[]> {
  const { name, own, opened } = opening;
  const found: Finding[] = [];
  const add = (what: string, tree: number | null = null): void => void found.push({ party: name, tree, what });
  if (toHex(commitmentTo(fromHex(opened.salt), opened.facts)) !== own.commitment)
    add("its opening is not what it has committed to");
  const changed = await changedFact(opening);
  if (changed !== null) add(`its opened data does not match its commitment: ${changed}`);
  for (const peer of Object.keys(opening.peers)) {
    const broken = brokenPair(opening, peer);
    if (broken !== null) add(broken.what, broken.tree);
  }
  return found;
}

/** Checks that the evidence of two parties agrees. */
export function checkTogether(active: Opening, passive: Opening): Finding[] {
  const found: Finding[] = [];
  for (const [one, other] of [
    [active, passive],
    [passive, active],
  ]) {
    const said = one.peers[other.name];
    const undecided = { party: null, tree: null };
    if (said === undefined)
      found.push({ party: one.name, tree: null, what: `its evidence does not contain ${other.name}` });
    else if (said.certificate !== other.own.certificate)
      found.push({ ...undecided, what: `${one.name} and ${other.name} have different certificates of ${other.name}` });
    else if (said.commitment !== other.own.commitment)
      found.push({ ...undecided, what: `${one.name} and ${other.name} have different commitments of ${other.name}` });
  }
  for (const { tree, pairs } of active.trees) {
    const theirs = passive.trees.find((other) => other.tree === tree)?.pairs[active.name];
    const ours = pairs[passive.name];
    if (theirs === undefined || ours === undefined || theirs.link === ours.link) continue;
    const what = `${active.name} and ${passive.name} have different signed links of it`;
    found.push({ party: null, tree, what });
    break;
  }
  return found;
}

/** The first invalid link or signature of the evidence, which its owner had checked during the job. */
function brokenPair(opening: Opening, peer: string): { readonly tree: number | null; readonly what: string } | null {
  const { role, job, run, own, peers, pins, trees, firstTree } = opening;
  const [ours, theirs] = [certificateOf(own.certificate), certificateOf(peers[peer].certificate)];
  if (ours === null || theirs === null) return { tree: null, what: "a certificate in its evidence cannot be read" };
  if (certificateFingerprint(theirs.toString()) !== pins[peer])
    return { tree: null, what: `its evidence has a certificate of ${peer} that is not the pinned one` };
  const other = role === "active" ? "passive" : "active";
  const commitments = { [role]: fromHex(own.commitment), [other]: fromHex(peers[peer].commitment) };
  const { active, passive } = commitments as Record<"active" | "passive", Uint8Array>;
  let previous = firstLink({ jobId: fromHex(run.split("/")[0]), active, passive });
  for (const [i, { tree, pairs }] of trees.entries()) {
    const pair = pairs[peer];
    if (tree !== firstTree + i || pair === undefined) return { tree, what: `its evidence about ${peer} is incomplete` };
    const link = nextLink(previous, tree, bytesFrom(pair.entries));
    if (!isSame(link, fromHex(pair.link))) return { tree, what: `its chain with ${peer} is broken` };
    const isOurs = isSigned(ours, signedText(role, job, tree, link), bytesFrom(pair.own));
    if (!isOurs) return { tree, what: "its own signature in its evidence is invalid" };
    if (!isSigned(theirs, signedText(other, job, tree, link), bytesFrom(pair.theirs)))
      return { tree, what: `the signature of ${peer} in its evidence is invalid` };
    previous = link;
  }
  return null;
}

function certificateOf(der: string): X509Certificate | null {
  try {
    return new X509Certificate(bytesFrom(der));
  } catch {
    return null;
  }
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
    start: startIn(facts),
    folds: active.folds.length,
  });
}
