/** Which scheme a job should take, and what each of them tells: the advice of docs/lattice.md, for one table. */
import type { Membership } from "../base/membership.ts";
import type { Estimate } from "./estimate.ts";

/** A job under one scheme. */
export interface SchemeOutlook {
  readonly scheme: string;
  /** In words: "a 2048-bit Paillier key". */
  readonly key: string;
  readonly membership: Membership;
  /** Null: it cannot train such a job, and `refusal` says why. */
  readonly estimate: Estimate | null;
  readonly refusal: string | null;
}

export interface Recommendation {
  readonly scheme: string;
  readonly why: string;
}

/** Below, what is sent once is more than what a few trees send. */
const fewRows = 2000;

/** What the parties learn of each other besides sums, which both schemes tell. */
export const revealedWords: Readonly<Record<Membership, readonly string[]>> = {
  sent: [
    "passive parties: who is in every node that is asked for",
    "the active party: of each won split the side of the node's people, and how many are on each side",
    "minimums of people hold at every node",
  ],
  hidden: [
    "passive parties: how many nodes of a tree are asked for, and never who is in one",
    "the active party: of each won split the side of everybody, or with hidden_outcomes of the node's people",
    "the active party: which candidate is which over all trees",
    "minimums of people hold at the root only",
  ],
};

/** @param peopleShare the job's min_people_share */
export function recommendation(
  schemes: readonly SchemeOutlook[],
  { rows, peopleShare }: { readonly rows: number; readonly peopleShare: number },
): Recommendation {
  const [sent, hidden] = (["sent", "hidden"] as const).map((kind) =>
    schemes.find(({ membership, estimate }) => membership === kind && estimate !== null),
  );
  const refused = schemes.find(({ estimate }) => estimate === null);
  if (!sent?.estimate || !hidden?.estimate)
    return {
      scheme: (sent ?? hidden)?.scheme ?? schemes[0].scheme,
      why: `the other cannot train this job: ${refused?.refusal ?? ""}`,
    };
  if (peopleShare > 0)
    return { scheme: sent.scheme, why: `with ${hidden.scheme} min_people_share would hold over all people only` };
  const [slow, quick] = [sent.estimate, hidden.estimate];
  if (rows < fewRows && bytesOf(quick) > bytesOf(slow))
    return { scheme: sent.scheme, why: `for so few people the hints of ${hidden.scheme} are more than they save` };
  if (quick.wallSeconds >= slow.wallSeconds)
    return {
      scheme: sent.scheme,
      why: `on this machine ${hidden.scheme} would not be faster (${quick.kernel} kernel)`,
    };
  const times = (slow.cpuSeconds / quick.cpuSeconds).toPrecision(2);
  return {
    scheme: hidden.scheme,
    why:
      `it takes ${times} times less CPU${linkWords(slow, quick)}, and passive parties do not learn who is in a node. ` +
      `${coarserWords(slow, quick)}It is experimental: every passive party must allow it`,
  };
}

function coarserWords(fine: Estimate, coarse: Estimate): string {
  if (coarse.resolutionBits >= fine.resolutionBits) return "";
  return `It rounds gradients to ${coarse.resolutionBits} bits, not ${fine.resolutionBits}. `;
}

/** What is sent more has to be sent in the time that is saved. */
function linkWords(slow: Estimate, quick: Estimate): string {
  const more = bytesOf(quick) - bytesOf(slow);
  if (more <= 0) return "";
  const megabits = (8 * more) / 1e6 / (slow.wallSeconds - quick.wallSeconds);
  return `, faster over links from ${Math.max(1, Math.ceil(megabits))} Mb/s on`;
}

function bytesOf({ bytes }: Estimate): number {
  return bytes.activeToPassive + bytes.passiveToActive;
}
