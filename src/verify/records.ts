/**
 * Checks that openings match what their parties committed to and signed, and that no opening lacks what its owner
 * signed. Signatures are checked with the pinned certificates only.
 *
 * A party is blamed for what it signed, and for what is in its own opening. What another party alone claims is no
 * evidence against it.
 */
import { isRepeatable } from "../party/job-evidence.ts";
import { requestDigest } from "../messages/histograms.ts";
import { digests } from "../protocol/chain/digests.ts";
import { decodeEntries, entryKey, isSame, keyed } from "../protocol/chain/entries.ts";
import { answerText, firstLink, gradientsText, nextLink, signedText } from "../protocol/chain/pair-chain.ts";
import { bytesFrom, fromHex, toHex } from "../store/stored-numbers.ts";
import type { Finding } from "./findings.ts";
import { dataFaults } from "./opened-data.ts";
import { jobIn, type Opening } from "./opening.ts";
import type { PinnedCertificates } from "./pins.ts";

/** What is wrong with an opening alone. */
export async function checkRecord(opening: Opening, pinned: PinnedCertificates): Promise<Finding[]> {
  const { name, own, peers } = opening;
  const found: Finding[] = [];
  const add = (what: string, tree: number | null = null): void => void found.push({ party: name, tree, what });
  if (!pinned.areOf(name, own)) add("its opening has another certificate than the pinned one");
  for (const fault of await dataFaults(opening)) add(fault);
  for (const peer of new Set([...Object.keys(peers), ...(opening.active?.passives ?? [])])) {
    const broken = brokenPair(opening, peer, pinned);
    if (broken !== null) add(broken.what, broken.tree);
    else if (opening.role === "passive")
      for (const { tree } of unsignedGradients(opening, peer, pinned))
        add(`gradients in its evidence do not have a valid signature of ${peer}`, tree);
    const forged = broken === null ? unsignedAnswer(opening, peer, pinned) : undefined;
    if (forged !== undefined) add(`answers in its evidence do not have a valid signature of ${peer}`, forged.tree);
  }
  return found;
}

/** Checks two openings, each of which is valid alone, against each other. */
export function checkTogether(active: Opening, passive: Opening): Finding[] {
  if (passive.firstTree !== active.firstTree)
    return [{ party: passive.name, tree: null, what: "its evidence begins with another tree than the job" }];
  for (const [one, other] of [
    [active, passive],
    [passive, active],
  ]) {
    const what = lack(one, other);
    if (what !== null) return [{ party: one.name, ...what }];
  }
  return isRepeatableJob(active) ? twoLinks(active, passive) : [];
}

/** Whether a tree that is redone has the same messages, as far as the active party has committed to it. */
export function isRepeatableJob({ active }: Opening): boolean {
  return active === undefined || isRepeatable(active.scheme, jobIn("", active).privacy);
}

/**
 * What a party has signed, by the other's opening, and its own opening does not have. Both commitments are part of
 * everything that is signed, gradients of unfinished trees included.
 */
function lack(one: Opening, other: Opening): Pick<Finding, "tree" | "what"> | null {
  const shown = one.peers[other.name];
  const signed = other.peers[one.name];
  const trees = other.trees.filter(({ pairs }) => pairs[one.name]?.theirs !== undefined);
  const answers = other.answers.filter(({ peer }) => peer === one.name);
  const hasSigned = trees.length > 0 || answers.length > 0 || (one.role === "active" && other.gradients.length > 0);
  if (!hasSigned || signed === undefined) return null;
  if (shown === undefined)
    return { tree: null, what: `it has signed messages with ${other.name}, and opens none of them` };
  if (signed.commitment !== one.own.commitment)
    return { tree: null, what: "its opening is of another commitment than the one that it has signed" };
  if (shown.commitment !== other.own.commitment)
    return { tree: null, what: `it has signed another commitment of ${other.name} than the one in its opening` };
  const has = (tree: number): boolean => one.trees.find((own) => own.tree === tree)?.pairs[other.name] !== undefined;
  const missing = trees.find(({ tree }) => !has(tree));
  if (missing !== undefined)
    return { tree: missing.tree, what: `it has signed this tree with ${other.name}, and its opening lacks it` };
  const answer = answers.find((each) => !has(each.tree) && !hasRequest(one, each));
  if (answer === undefined) return null;
  const { tree, node } = answer;
  return { tree, what: `it has signed an answer about node ${node}, and its opening lacks the request` };
}

/** A passive party stores what the active party has signed before it answers. */
function hasRequest({ gradients }: Opening, { tree, node, entries }: Opening["answers"][number]): boolean {
  const own = keyed(decodeEntries(bytesFrom(entries)));
  const parts = (["members", "node gradients"] as const).map((kind) => own.get(entryKey({ kind, node }))?.digest);
  const [members, sent] = parts;
  if (members === undefined || sent === undefined) return true; // not an answer about a node
  const digest = toHex(requestDigest(digests, members, sent));
  return gradients.some((signed) => signed.tree === tree && signed.node === node && signed.digest === digest);
}

/**
 * Neither party signs a tree twice with different messages: a tree that is redone has the same. The active party signs
 * first, so it has signed what either opening contains; the passive party only what has its signature.
 */
function twoLinks(active: Opening, passive: Opening): Finding[] {
  for (const { tree, pairs } of active.trees) {
    const ours = pairs[passive.name];
    const theirs = passive.trees.find((other) => other.tree === tree)?.pairs[active.name];
    if (ours === undefined || theirs === undefined || ours.link === theirs.link) continue;
    const what = "it has signed this tree twice, with different messages";
    const both = ours.theirs === undefined ? [active] : [active, passive];
    return both.map(({ name }) => ({ party: name, tree, what }));
  }
  return [];
}

/** The trees that passive parties have signed too, each with these parties only. */
export function agreedTrees(active: Opening, passives: readonly Opening[]): Opening["trees"] {
  return active.trees
    .map((tree) => {
      const isAgreed = ([peer, { theirs, link }]: [string, Opening["trees"][number]["pairs"][string]]): boolean =>
        theirs !== undefined ||
        passives.some(
          ({ name, trees }) =>
            name === peer && trees.some((t) => t.tree === tree.tree && t.pairs[active.name]?.link === link),
        );
      return { ...tree, pairs: Object.fromEntries(Object.entries(tree.pairs).filter(isAgreed)) };
    })
    .filter(({ pairs }) => Object.keys(pairs).length > 0);
}

/** Gradients that the active party has not signed after the tree before them. @param active its name */
function unsignedGradients(opening: Opening, active: string, pinned: PinnedCertificates): Opening["gradients"] {
  const { job, gradients } = opening;
  return gradients.filter(({ tree, node, digest, signature, entries }) => {
    const before = linkBefore(opening, active, tree);
    if (before === null) return true;
    const link = node === null ? before : linkSoFar(before, tree, entries);
    if (link === null) return true;
    const text = gradientsText(job, link, { tree, node, digest: fromHex(digest) });
    return !pinned.hasSigned(active, text, bytesFrom(signature));
  });
}

/** The first answer that a passive party has not signed. Those after a tree that is missing are left to others. */
function unsignedAnswer(
  opening: Opening,
  passive: string,
  pinned: PinnedCertificates,
): Opening["answers"][number] | undefined {
  return opening.answers.find(({ peer, tree, node, before, entries, signature }) => {
    if (peer !== passive) return false;
    const previous = linkBefore(opening, passive, tree);
    if (previous === null) return false; // checkTogether, and answers that follow no tree are not used
    const link = linkSoFar(previous, tree, before);
    if (link === null || linkSoFar(link, tree, entries) === null) return true;
    const text = answerText(opening.job, link, tree, node, bytesFrom(entries));
    return !pinned.hasSigned(passive, text, bytesFrom(signature));
  });
}

/** The link before a tree; null: the evidence does not have it. */
function linkBefore(opening: Opening, peer: string, tree: number): Uint8Array | null {
  const { trees, firstTree } = opening;
  if (tree === firstTree) return beginning(opening, peer);
  const link = trees[tree - firstTree - 1]?.pairs[peer]?.link;
  return link === undefined ? null : fromHex(link);
}

/** Null: these are no entries. */
function linkSoFar(before: Uint8Array, tree: number, entries = ""): Uint8Array | null {
  try {
    decodeEntries(bytesFrom(entries));
    return nextLink(before, tree, bytesFrom(entries));
  } catch {
    return null;
  }
}

/** The link before the first tree. */
function beginning({ role, run, own, peers }: Opening, peer: string): Uint8Array {
  const [ours, theirs] = [fromHex(own.commitment), fromHex(peers[peer].commitment)];
  const [active, passive] = role === "active" ? [ours, theirs] : [theirs, ours];
  return firstLink({ jobId: fromHex(run.split("/")[0]), active, passive });
}

/** The first invalid link or signature of the evidence, which its owner had checked during the job. */
function brokenPair(
  opening: Opening,
  peer: string,
  pinned: PinnedCertificates,
): { readonly tree: number | null; readonly what: string } | null {
  const { name, role, job, peers, trees, firstTree } = opening;
  if (!pinned.isPinned(peer)) return null; // its opening is missing, so the verdict is incomplete
  if (peers[peer] === undefined)
    return trees.length === 0 ? null : { tree: null, what: `its evidence does not contain ${peer}` };
  if (!pinned.areOf(peer, peers[peer]))
    return { tree: null, what: `its evidence has a certificate of ${peer} that is not the pinned one` };
  const other = role === "active" ? "passive" : "active";
  let previous = beginning(opening, peer);
  for (const [i, { tree, pairs }] of trees.entries()) {
    const pair = pairs[peer];
    const incomplete = { tree, what: `its evidence about ${peer} is incomplete` };
    if (tree !== firstTree + i) return incomplete;
    // The active party signs for each party. Whether the peer has its signature of the last tree: checkTogether.
    if (pair === undefined) return i === trees.length - 1 ? null : incomplete;
    const link = nextLink(previous, tree, bytesFrom(pair.entries));
    if (!isSame(link, fromHex(pair.link))) return { tree, what: `its chain with ${peer} is broken` };
    if (!pinned.hasSigned(name, signedText(role, job, tree, link), bytesFrom(pair.own)))
      return { tree, what: "its own signature in its evidence is invalid" };
    const isMissing = pair.theirs === undefined && role === "active"; // it stores its own signature first
    if (!isMissing && !pinned.hasSigned(peer, signedText(other, job, tree, link), bytesFrom(pair.theirs ?? "")))
      return { tree, what: `the signature of ${peer} in its evidence is invalid` };
    previous = link;
  }
  return null;
}
