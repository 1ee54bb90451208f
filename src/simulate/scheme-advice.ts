/** Recommends a scheme for a job, and lists what each scheme reveals: the advice of docs/lattice.md for one table. */
import type { Membership } from "../base/membership.ts";
import { formatSeconds } from "../base/text/format.ts";
import type { Estimate } from "./estimate.ts";

/** A job under one scheme. */
export interface SchemeOutlook {
  readonly scheme: string;
  /** For display: "a 2048-bit Paillier key". */
  readonly key: string;
  readonly membership: Membership;
  /** The scheme's own warning, such as that it is experimental. */
  readonly warning: string | null;
  /** Null: the scheme cannot train this job, for the reason in `refusal`. */
  readonly estimate: Estimate | null;
  readonly refusal: string | null;
}

export interface Recommendation {
  readonly scheme: string;
  readonly why: string;
}

/** Below this number of rows the hints, sent once, outweigh what a few trees send. */
const fewRows = 2000;

/** What parties learn about each other apart from sums, which every scheme reveals. */
export const revealedTexts: Readonly<Record<Membership, readonly string[]>> = {
  sent: [
    "passive parties: the members of every requested node",
    "the active party: for each won split, the side of each member of the node, and the number on each side",
    "minimum instance counts hold at every node",
  ],
  hidden: [
    "passive parties: how many nodes of a tree are requested, never their members",
    "the active party: for each won split, the side of every instance, or with hidden_outcomes of the node's members",
    "the active party: which candidates of different trees are the same",
    "minimum instance counts hold at the root only",
  ],
};

/** @param counting defences of the job that count the instances of nodes */
export function recommendation(
  schemes: readonly SchemeOutlook[],
  { rows, counting }: { readonly rows: number; readonly counting: readonly string[] },
): Recommendation {
  const [sent, hidden] = (["sent", "hidden"] as const).map((kind) =>
    quickest(schemes.filter(({ membership }) => membership === kind)),
  );
  const refused = schemes.find(({ estimate }) => estimate === null);
  if (!sent?.estimate || !hidden?.estimate)
    return {
      scheme: (sent ?? hidden)?.scheme ?? schemes[0].scheme,
      why: `the other cannot train this job: ${refused?.refusal ?? ""}`,
    };
  if (counting.length > 0)
    return { scheme: sent.scheme, why: `with ${hidden.scheme} ${counting.join(", ")} would hold at the root only` };
  const [slow, quick] = [sent.estimate, hidden.estimate];
  if (rows < fewRows && bytesOf(quick) > bytesOf(slow))
    return { scheme: sent.scheme, why: `with few instances the hints of ${hidden.scheme} cost more than they save` };
  if (secondsOf(quick) >= secondsOf(slow)) return { scheme: sent.scheme, why: slowerText(hidden.scheme, slow, quick) };
  const times = (slow.cpuSeconds / quick.cpuSeconds).toPrecision(2);
  return {
    scheme: hidden.scheme,
    why:
      `it takes ${times} times less CPU${linkText(slow, quick)}, and passive parties do not learn who is in a node. ` +
      `${coarserText(slow, quick)}${hidden.warning === null ? "" : `${hidden.warning} `}` +
      `Read docs/lattice.md first, and use ${sent.scheme} otherwise: every passive party must allow ${hidden.scheme}`,
  };
}

/** Schemes of one kind reveal the same, so that estimated time decides. */
function quickest(schemes: readonly SchemeOutlook[]): SchemeOutlook | undefined {
  const seconds = ({ estimate }: SchemeOutlook): number => (estimate === null ? Infinity : secondsOf(estimate));
  return schemes.filter(({ estimate }) => estimate !== null).sort((a, b) => seconds(a) - seconds(b))[0];
}

/** Over the line that was asked about, or on one machine. */
function secondsOf({ overLine, wallSeconds }: Estimate): number {
  return overLine?.wallSeconds ?? wallSeconds;
}

function slowerText(scheme: string, chosen: Estimate, other: Estimate): string {
  if (other.overLine === undefined || chosen.overLine === undefined)
    return `on this machine ${scheme} would not be faster (${other.kernel} kernel)`;
  const perTree = ({ secondsPerTree }: { readonly secondsPerTree: number }): string => formatSeconds(secondsPerTree);
  return `over this line ${scheme} would take ${perTree(other.overLine)} per tree, not ${perTree(chosen.overLine)}`;
}

function coarserText(fine: Estimate, coarse: Estimate): string {
  if (coarse.resolutionBits >= fine.resolutionBits) return "";
  return `It rounds gradients to ${coarse.resolutionBits} bits, not ${fine.resolutionBits}. `;
}

/** The additional bytes must be sent in the time that is saved. */
function linkText(slow: Estimate, quick: Estimate): string {
  if (quick.overLine !== undefined) return `, ${formatSeconds(quick.overLine.secondsPerTree)} per tree over this line`;
  const more = bytesOf(quick) - bytesOf(slow);
  if (more <= 0) return "";
  const megabits = (8 * more) / 1e6 / (slow.wallSeconds - quick.wallSeconds);
  return `, faster over links from ${Math.max(1, Math.ceil(megabits))} Mb/s on`;
}

function bytesOf({ bytes }: Estimate): number {
  return bytes.activeToPassive + bytes.passiveToActive;
}
