/**
 * What a party has revealed outside of training, with dates: by alignment before it, and after it by scoring,
 * explanations and consents to an export. Lines of own.jsonl have the facts after the job; events have the alignment.
 *
 * Runs in browsers too.
 */
import * as z from "zod/mini";
import type { Immutable } from "../base/immutable.ts";
import { formatCount } from "../base/text/format.ts";
import { defencesOf } from "./defence-facts.ts";
import { count, flag, instant, text } from "./fields.ts";
import type { JobView } from "./job-view.ts";

export const revealedFields = {
  at: instant,
  /** tags: which splits share a feature. A consent is given by the passive party, and used by the active one. */
  how: z.enum(["scoring", "tags", "contributions", "consent", "vetting"]),
  active: text,
  passive: text,
  /** Ids asked about; repeated ones count again. */
  ids: z.exactOptional(count),
  splits: z.exactOptional(count),
  features: z.exactOptional(count),
  /** With the names of these features. */
  names: z.exactOptional(flag),
  /** The passive party's words. */
  purpose: z.exactOptional(text),
};

export type Revealed = Immutable<z.infer<z.ZodMiniObject<typeof revealedFields>>>;

/** What one party has learned about another, in words. */
export interface RevealedFact {
  /** A day or two days, in UTC. */
  readonly when: string;
  readonly learner: string;
  readonly about: string;
  readonly words: string;
}

/** Adds a fact; those of one day between the same parties are summed. */
export function addRevealed(facts: Revealed[], { at, how, active, passive, ...fact }: Revealed): void {
  const isSame = (other: Revealed): boolean =>
    other.how === how && other.active === active && other.passive === passive && dayOf(other.at) === dayOf(at);
  // Consents have purposes of their own, and every vetting counts by itself.
  const isAlone = how === "consent" || how === "vetting";
  // A job's own lines repeat the vettings before it; the log of vettings has all.
  if (how === "vetting" && facts.some((other) => isSame(other) && other.at === at)) return;
  const known = isAlone ? -1 : facts.findIndex(isSame);
  if (known < 0) facts.push({ at, how, active, passive, ...fact });
  else facts[known] = { ...facts[known], ...fact, ...(fact.ids === undefined ? {} : summed(facts[known], fact.ids)) };
}

function summed({ ids = 0 }: Revealed, more: number): Pick<Revealed, "ids"> {
  return { ids: ids + more };
}

/** Outside of training; the earliest first. */
export function revealedFacts(view: JobView, revealed: readonly Revealed[]): RevealedFact[] {
  const dated = [
    ...revealed.map((fact) => ({ at: fact.at, facts: factsOf(view, fact) })),
    { at: view.alignment.at ?? 0, facts: alignmentFacts(view) },
  ];
  return dated.toSorted((a, b) => a.at - b.at).flatMap(({ facts }) => facts);
}

function alignmentFacts({ alignment, party, peers, role }: JobView): RevealedFact[] {
  const { at, commonCount, pairwise } = alignment;
  if (at === null || commonCount === null) return [];
  const when = dayOf(at);
  const common = people(commonCount);
  if (role === "passive") {
    const [active = "the active party"] = peers;
    return [
      { when, learner: active, about: party, words: `which ${common} of its table are also in that of ${party}` },
      { when, learner: party, about: active, words: `which ${common} of its table are in those of all parties` },
    ];
  }
  return peers.flatMap((peer) => {
    const pair = pairwise.find((each) => each.peer === peer);
    const shared =
      pair === undefined
        ? `which ${common} of its table are in those of all parties`
        : `which ${people(pair.sharedCount)} of its table are also in that of ${peer}, and that ${peer} has ` +
          `${people(pair.idCount)}`;
    return [
      { when, learner: party, about: peer, words: shared },
      { when, learner: peer, about: party, words: `which ${common} of its table are in those of all parties` },
    ];
  });
}

function factsOf(view: JobView, { at, how, active, passive, ...amounts }: Revealed): RevealedFact[] {
  const when = dayOf(at);
  const { ids = 0, splits = 0, features = 0, names = false, purpose = "" } = amounts;
  const toActive = (words: string): RevealedFact => ({ when, learner: active, about: passive, words });
  const toPassive = (words: string): RevealedFact => ({ when, learner: passive, about: active, words });
  switch (how) {
    case "scoring":
      return [
        toActive(
          defencesOf(view).masked_scoring
            ? `the scores of ${people(ids)}, and which of them ${passive} holds; no outcome of a split`
            : `the outcome of each of ${passive}'s splits for ${people(ids)}, and which of them it holds`,
        ),
        toPassive(`the ids of ${people(ids)} to be scored with this model, and when`),
      ];
    case "tags":
      return [
        toActive(`which of ${passive}'s ${formatCount(splits)} splits share a feature within a tree, for explanations`),
      ];
    case "contributions":
      return [toPassive(`what ${passive}'s own features add to the scores of ${people(ids)}`)];
    case "vetting":
      return [
        toActive(
          `how many people, and how many with its label, are in each bin of ${formatCount(features)} columns of ` +
            `${passive}, by a vetting${names ? ", with the names of the columns" : "; the columns had no names"}`,
        ),
        toPassive("that it vetted these columns for a label; not the label, nor what it found"),
      ];
    case "consent":
      return [
        toActive(
          `${formatCount(splits)} splits of ${passive} with the names of ${formatCount(features)} features, their ` +
            `thresholds or categories and default directions, by a consent to an export` +
            (purpose === "" ? "" : ` for: ${purpose}`),
        ),
      ];
  }
}

/** What contradicts "no name and no threshold was sent", in a sentence per consent; empty: nothing does. */
export function consentSentences(revealed: readonly Revealed[]): string[] {
  return revealed
    .filter(({ how }) => how === "consent")
    .map(
      ({ at, active, passive, splits = 0 }) =>
        `But on ${dayOf(at)} ${passive} consented to an export: ` +
        `${active} has ${formatCount(splits)} splits of ${passive}, with the names of features and the thresholds.`,
    );
}

/** What a vetting has revealed besides what training sends, in a sentence each; empty: there was none. */
export function vettingSentences(revealed: readonly Revealed[]): string[] {
  const sentences = revealed
    .filter(({ how }) => how === "vetting")
    .map(
      ({ at, active, passive, features = 0, names = false }) =>
        `On ${dayOf(at)} ${active} vetted ${formatCount(features)} columns of ${passive}: it has the number of ` +
        `people and of labels in each of their bins${names ? ", and the names of the columns" : ""}.`,
    );
  return [...new Set(sentences)];
}

function people(many: number): string {
  return many === 1 ? "one person" : `${formatCount(many)} people`;
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
