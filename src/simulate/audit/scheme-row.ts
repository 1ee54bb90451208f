/** What one training reveals with each scheme: a row of the audit. */
import type { LabelExposure, PartyExposure, SchemeExposure } from "../../privacy/attack/audit-result.ts";
import type { MembershipFacts } from "../../base/membership.ts";

/** The results of the attacks on what a scheme reveals. */
export interface AttackedScheme {
  readonly scheme: string;
  readonly membership: MembershipFacts;
  readonly parties: readonly PartyExposure[];
  readonly labels: readonly LabelExposure[];
}

export function schemeRow(found: AttackedScheme, isOfJob: boolean, isNoisy: boolean): SchemeExposure {
  const { parties, labels, scheme, membership } = found;
  const of = (valueOf: (party: PartyExposure) => number): number => mean(parties.map(valueOf)) ?? 0;
  const both = (valueOf: (party: PartyExposure, channel: "outcomes" | "sums") => number) => ({
    outcomes: of((party) => valueOf(party, "outcomes")),
    sums: of((party) => valueOf(party, "sums")),
  });
  return {
    scheme,
    isOfJob,
    membership,
    tellsCounts: membership.countsAreSent && !isNoisy,
    bits: of(({ bits }) => bits),
    toldBits: both(({ bits, left }, channel) => Math.max(0, bits - left[channel])),
    certain: both(({ certain }, channel) => certain[channel]),
    linked: of(({ linked, candidates }) => (membership.candidatesAreLinked ? candidates : linked)),
    candidates: of(({ candidates }) => candidates),
    labelsAuc: bestGuess(labels),
    isComplete: parties.every(({ isComplete }) => isComplete),
  };
}

/** The better of the two label attacks. */
export function bestGuess(labels: readonly LabelExposure[]): number | null {
  return mean(labels.flatMap(({ guess }) => (guess ? [Math.max(guess.without.auc, guess.withLabels.auc)] : [])));
}

export function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
