/** Runs all attacks on one passive party and summarises them. */
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { candidatesOf, leftBins } from "../../gbdt/split/candidate.ts";
import { type ByChannel, type ColumnExposure, type PartyExposure } from "./audit-result.ts";
import { numbersOpened, reachOfSums } from "../spending.ts";
import { type AnswerNoise, Capacity, sentNodes, sideCovariance } from "./capacity.ts";
import { afterScoring, afterTraining } from "./outcomes.ts";
import type { OpenedCandidates } from "./opened.ts";
import { PossibleBins } from "./possible-bins.ts";
import type { OwnSide, OwnSplit } from "./recorder.ts";
import { type AttackClock, attackSums } from "./sums.ts";
import type { MembershipFacts } from "../../base/membership.ts";
import { strideOf, type Transcript } from "./transcript.ts";

export interface AttackedParty {
  readonly name: string;
  readonly features: readonly BinnedFeature[];
  /** The training rows. */
  readonly instances: Uint32Array;
  readonly transcript: Transcript;
  readonly splits: readonly OwnSplit[];
  sideAt(tree: number, position: number): OwnSide;
  /** Null: sums are exact. */
  readonly noise: AnswerNoise | null;
  /** Sums are hidden: at most one candidate of each node is opened. Left out: they are not. */
  readonly opened?: OpenedCandidates | null;
  /** Scoring reveals outcomes of splits; otherwise scores only. */
  readonly tellsScoring: boolean;
  readonly membership: MembershipFacts;
  /** Numbers in sums per candidate, where the transcript has no nodes to count them in; null: it has. */
  readonly sumsAnswered?: number | null;
}

export async function exposureOf(party: AttackedParty, clock: AttackClock, atOnce: number): Promise<PartyExposure> {
  const { features, instances, transcript, splits } = party;
  const outcomes =
    party.membership.outcomesCover === "all instances"
      ? afterScoring(features, instances, splits)
      : afterTraining(features, instances, splits, transcript);
  // A masked score may fit only one path through the trees: it is assumed to reveal that path, as training does for its
  // instances. Off the path it reveals nothing.
  const scoring = party.tellsScoring ? afterScoring(features, instances, splits) : outcomes;
  const sums = features.map((feature, i) => new PossibleBins(feature, instances, outcomes[i]));
  const attack =
    party.noise === null
      ? await attackSums(transcript, sums, (tree, position) => party.sideAt(tree, position), clock, atOnce)
      : { linked: 0, isComplete: true };
  const capacity = party.noise && new Capacity(transcript, party.noise);
  const { opened = null } = party;
  const openedBits = opened && opened.bits / instances.length;
  const columns = features.map((feature, i): ColumnExposure => {
    const channels = { outcomes: outcomes[i], sums: sums[i], scoring: scoring[i] };
    // What is opened is a bound for all columns together: each has an equal part of it.
    const bound = capacity
      ? capacity.bits(sideCovariance(feature, outcomes[i], capacity.power))
      : openedBits && openedBits / features.length;
    return {
      name: feature.name,
      bins: outcomes[i].binCount,
      bits: outcomes[i].entropy(),
      certain: byChannel((channel) => channels[channel].certain()),
      left: byChannel((channel) => channels[channel].bitsLeft()),
      sumsBound: bound && Math.min(bound, outcomes[i].bitsLeft()),
    };
  });
  const total = (of: (column: ColumnExposure) => number): number =>
    columns.reduce((sum, column) => sum + of(column), 0);
  const sides = features.flatMap((feature, i) =>
    candidatesOf(feature).map((candidate) => sums[i].certainOf(sums[i].mask(leftBins(feature, candidate)))),
  );
  const sumsPerPerson = numbersAnswered(party) / instances.length;
  return {
    party: party.name,
    people: instances.length,
    trees: transcript.trees.length,
    columns,
    bits: total(({ bits }) => bits),
    certain: byChannel((channel) => total(({ certain }) => certain[channel]) / Math.max(1, columns.length)),
    left: byChannel((channel) => total(({ left }) => left[channel])),
    candidateBits: sides.reduce((sum, share) => sum + share, 0) / Math.max(1, sides.length),
    candidates: sides.length,
    linked: attack.linked,
    tellsScoring: party.tellsScoring,
    membership: party.membership,
    triesSums: (party.sumsAnswered ?? null) === null && opened?.areInTranscript !== false,
    sumsPerPerson,
    openedBits,
    reach: opened === null && party.noise === null ? reachOfSums(sumsPerPerson) : null,
    wrong: [...outcomes, ...sums, ...(party.tellsScoring ? scoring : [])].reduce((sum, each) => sum + each.wrong(), 0),
    isComplete: attack.isComplete,
  };
}

/** Counts are not sent with noise, nor where members are hidden. */
function numbersAnswered(party: AttackedParty): number {
  const { transcript, noise, membership, sumsAnswered = null, opened = null } = party;
  if (opened !== null) return numbersOpened * opened.count;
  if (sumsAnswered !== null) return sumsAnswered;
  const notSent = noise === null && membership.countsAreSent ? 0 : 1;
  return transcript.trees.reduce((sum, tree) => sum + sentNodes(tree).length * (strideOf(tree) - notSent), 0);
}

function byChannel(valueOf: (channel: keyof ByChannel) => number): ByChannel {
  return { outcomes: valueOf("outcomes"), sums: valueOf("sums"), scoring: valueOf("scoring") };
}
