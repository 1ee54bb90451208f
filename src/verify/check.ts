/** `tandem verify-job check`: whether the parties of a job followed the protocol, and which deviated. */
import { TandemError } from "../base/error.ts";
import { peerText } from "../wire/peer-text.ts";
import type { Finding, TreeVerdict, Verdict } from "./findings.ts";
import type { Opening } from "./opening.ts";
import { PinnedCertificates, type Pins } from "./pins.ts";
import { agreedTrees, checkRecord, checkTogether, isRepeatableJob } from "./records.ts";
import { type ActiveOpening, replayJob } from "./replay-job.ts";

export interface CheckOptions {
  /** Fingerprints of the parties' certificates, from a source other than the openings. */
  readonly pins: Pins;
  /** Trees whose ciphertexts are compared too; null: all. */
  readonly trees: ReadonlySet<number> | null;
  readonly onTree?: (verdict: TreeVerdict) => void;
}

/** @throws TandemError USAGE if the openings are not of one job, or a pin is missing */
export async function checkOpenings(openings: readonly Opening[], options: CheckOptions): Promise<Verdict> {
  requireOneJob(openings);
  requirePins(openings, options.pins);
  const active = openings.find((opening): opening is ActiveOpening => opening.active !== undefined) ?? null;
  const passives = openings.filter((opening) => opening !== active);
  const records = await checkRecords(active, passives, new PinnedCertificates(options.pins, openings));
  const verdict = { job: openings[0].job, parties: openings.map(({ name }) => name), records };
  const why = whyNot(active, passives, records);
  if (active === null || why !== null)
    return { ...verdict, trees: untouched(openings), notChecked: [`no tree: ${why}`] };
  const ordered = active.active.passives.map((name) => passives.find((passive) => passive.name === name) ?? active);
  const trees = agreedTrees(active, passives);
  return { ...verdict, ...(await replayed({ ...active, trees }, ordered, options)) };
}

async function checkRecords(
  active: ActiveOpening | null,
  passives: readonly Opening[],
  pinned: PinnedCertificates,
): Promise<readonly Finding[]> {
  const records: Finding[] = [];
  for (const opening of active === null ? passives : [active, ...passives])
    records.push(...(await checkRecord(opening, pinned)));
  if (records.length > 0 || active === null) return records; // openings are compared only if each of them is valid
  return passives.flatMap((passive) => checkTogether(active, passive));
}

/** Why the job cannot be replayed; null: it can. */
function whyNot(active: ActiveOpening | null, passives: readonly Opening[], records: readonly Finding[]) {
  if (records.length > 0) return "the evidence above must be valid first";
  if (active === null) return "the active party's opening is missing, so the job cannot be replayed";
  const missing = active.active.passives.filter((name) => !passives.some((passive) => passive.name === name));
  if (missing.length > 0) return `the opening of ${missing.join(" and ")} is missing, so the job cannot be replayed`;
  const isSigned = agreedTrees(active, passives).length > 0 || passives.some(({ gradients }) => gradients.length > 0);
  if (!isSigned) return "the parties have not signed any";
  return active.opened.facts["start"] === "" ? null : "the job continued a start model, whose outcomes are not opened";
}

async function replayed(
  active: ActiveOpening,
  passives: readonly Opening[],
  { trees: chosen, onTree }: CheckOptions,
): Promise<Pick<Verdict, "trees" | "notChecked">> {
  const isChosen = (tree: number): boolean => chosen?.has(tree) ?? true;
  const { found, failure } = await replayJob(active, passives, {
    isChosen,
    ...(onTree === undefined ? {} : { onTree }),
  });
  const rest = active.trees.filter(({ tree }) => !found.some((verdict) => verdict.tree === tree));
  const plain = found.filter(({ state }) => state === "plain").map(({ tree }) => tree);
  const notChecked = plainTexts(plain.length, plain.filter((tree) => !isChosen(tree)).length, !isRepeatableJob(active));
  if (rest.length > 0) notChecked.push(restText(rest.length, found, failure));
  return { trees: [...found, ...rest.map(({ tree }) => untouchedTree(tree))], notChecked };
}

/** What was not compared of trees that are "plain". @param omitted of these, trees that were not chosen */
function plainTexts(count: number, omitted: number, hidden: boolean): string[] {
  if (hidden && count > 0)
    return [`the outcomes of splits in ${count} trees: their oblivious transfers cannot be recomputed`];
  return [
    ...(omitted > 0 ? [`the ciphertexts of ${omitted} trees that were not chosen`] : []),
    ...(count > omitted ? [`some sums of ${count - omitted} trees: their answers were too large to be stored`] : []),
  ];
}

function restText(count: number, found: readonly TreeVerdict[], failure: string | null): string {
  if (found.some(({ finding }) => finding !== null))
    return `${count} trees after the one that deviates: they depend on it`;
  return failure ?? `${count} trees`;
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
  if (openings.filter(({ active }) => active !== undefined).length > 1)
    throw new TandemError("USAGE", "two openings of an active party");
  const names = openings.map(({ name }) => name);
  if (new Set(names).size < names.length) throw new TandemError("USAGE", "two openings of one party");
}

function requirePins(openings: readonly Opening[], pins: Pins): void {
  const missing = openings.map(({ name }) => name).filter((name) => !pins.has(name));
  if (missing.length === 0) return;
  const name = peerText(missing[0]);
  throw new TandemError(
    "USAGE",
    `the certificate of ${name} is not pinned. Pass --pin ${name}=FINGERPRINT or --pin ${name}=certificate.pem`,
  );
}
