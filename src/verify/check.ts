/** `tandem verify-job check`: whether the parties of a job followed the protocol, and which deviated. */
import { TandemError } from "../base/error.ts";
import { peerText } from "../wire/peer-text.ts";
import type { Finding, TreeVerdict, Verdict } from "./findings.ts";
import type { Opening } from "./opening.ts";
import { checkRecord, checkTogether } from "./records.ts";
import { type ActiveOpening, replayJob } from "./replay-job.ts";

export interface CheckOptions {
  /** Trees whose ciphertexts are compared too; null: all. */
  readonly trees: ReadonlySet<number> | null;
  readonly onTree?: (verdict: TreeVerdict) => void;
}

/** @throws TandemError USAGE if the openings are not of one job */
export async function checkOpenings(openings: readonly Opening[], options: CheckOptions): Promise<Verdict> {
  const [first] = openings;
  requireOneJob(openings);
  const active = openings.find((opening): opening is ActiveOpening => opening.active !== undefined) ?? null;
  const passives = openings.filter((opening) => opening !== active);
  const records: Finding[] = [];
  for (const opening of openings) records.push(...(await checkRecord(opening)));
  if (active !== null) for (const passive of passives) records.push(...checkTogether(active, passive));
  const verdict = { job: first.job, parties: openings.map(({ name }) => name), records };
  const missing =
    active === null ? null : active.active.passives.filter((name) => !passives.some((p) => p.name === name));
  const why = whyNot(active, missing, records);
  if (active === null || missing === null || why !== null)
    return { ...verdict, trees: untouched(openings), notChecked: [why ?? ""] };
  const ordered = active.active.passives.map((name) => passives.find((passive) => passive.name === name) ?? active);
  const last = Math.min(...[active, ...ordered].map(({ trees, firstTree }) => firstTree + trees.length - 1));
  const isChosen = (tree: number): boolean => options.trees?.has(tree) ?? true;
  const { onTree } = options;
  const found = await replayJob(active, ordered, { isChosen, last, ...(onTree === undefined ? {} : { onTree }) });
  return { ...verdict, ...afterReplay(active, found, last) };
}

/** Why the job cannot be replayed; null: it can. */
function whyNot(active: ActiveOpening | null, missing: readonly string[] | null, records: readonly Finding[]) {
  if (active === null || missing === null)
    return "no tree: the active party's opening is missing, so the job cannot be replayed";
  if (missing.length > 0)
    return `no tree: the opening of ${missing.join(" and ")} is missing, so the job cannot be replayed`;
  if (active.opened.facts["start"] !== "")
    return "no tree: the job continued a start model, whose outcomes are not opened";
  return records.length > 0 ? "no tree: the evidence above must be valid first" : null;
}

function afterReplay(
  active: ActiveOpening,
  found: readonly TreeVerdict[] | null,
  last: number,
): Pick<Verdict, "trees" | "notChecked"> {
  if (found === null) return { trees: untouched([active]), notChecked: [noReplay(active)] };
  const rest = active.trees.filter(({ tree }) => !found.some((verdict) => verdict.tree === tree));
  const notChecked: string[] = [];
  const plain = found.filter(({ state }) => state === "plain").map(({ tree }) => tree);
  if (plain.length > 0) notChecked.push(`the ciphertexts of ${plain.length} trees that were not chosen`);
  if (found.some(({ finding }) => finding !== null) && rest.length > 0)
    notChecked.push(`${rest.length} trees after the one that deviates: they depend on it`);
  else if (active.trees.some(({ tree }) => tree > last)) notChecked.push("trees that not all parties have evidence of");
  return { trees: [...found, ...rest.map(({ tree }) => untouchedTree(tree))], notChecked };
}

/** What is not checked with a scheme that cannot be replayed. */
function noReplay({ active: { scheme } }: ActiveOpening): string {
  return (
    `no tree: messages of the ${peerText(scheme)} scheme cannot be recomputed, since its secrets are never stored. ` +
    "Only commitments, signatures and chains of digests were checked"
  );
}

function untouched(openings: readonly Opening[]): TreeVerdict[] {
  const [{ trees }] = openings;
  return trees.map(({ tree }) => untouchedTree(tree));
}

function untouchedTree(tree: number): TreeVerdict {
  return { tree, state: "not checked", finding: null };
}

function requireOneJob(openings: readonly Opening[]): void {
  const [first, ...others] = openings;
  const jobId = ({ run }: Opening): string => run.split("/")[0];
  const wrong = others.find((opening) => opening.job !== first.job || jobId(opening) !== jobId(first));
  if (wrong !== undefined)
    throw new TandemError("USAGE", `the openings of ${first.name} and ${wrong.name} are not of the same job`);
  if (openings.filter(({ role }) => role === "active").length > 1)
    throw new TandemError("USAGE", "two openings of an active party");
  const names = openings.map(({ name }) => name);
  if (new Set(names).size < names.length) throw new TandemError("USAGE", "two openings of one party");
}
