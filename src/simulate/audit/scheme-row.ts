/** What one training reveals with each scheme: a row of the audit. */
import type { ByChannel, LabelExposure, PartyExposure, SchemeExposure } from "../../privacy/attack/audit-result.ts";
import type { MembershipFacts } from "../../base/membership.ts";
import type { Defences } from "../../privacy/defences/defences.ts";

/** The results of the attacks on what a scheme reveals. */
export interface AttackedScheme {
  readonly scheme: string;
  readonly membership: MembershipFacts;
  readonly parties: readonly PartyExposure[];
  readonly labels: readonly LabelExposure[];
}

export function schemeRow(found: AttackedScheme, isOfJob: boolean, defences: Defences): SchemeExposure {
  const { parties, labels, scheme, membership } = found;
  const of = (valueOf: (party: PartyExposure) => number): number => mean(parties.map(valueOf)) ?? 0;
  const bitsBy = (channel: keyof ByChannel): number => of(({ bits, left }) => Math.max(0, bits - left[channel]));
  const proven = (channel: keyof ByChannel): number => of(({ certain }) => certain[channel]);
  const bounds = parties.flatMap(({ columns }) => columns.flatMap(({ sumsBound }) => sumsBound ?? []));
  return {
    scheme,
    isOfJob,
    membership,
    tellsCounts: membership.countsAreSent && defences.answer_noise === 0 && !defences.hidden_sums,
    bits: of(({ bits }) => bits),
    toldBits: { outcomes: bitsBy("outcomes"), sums: bitsBy("sums"), scoring: bitsBy("scoring") },
    sumsBound: bounds.length === 0 ? null : bounds.reduce((sum, bound) => sum + bound, 0) / parties.length,
    certain: { outcomes: proven("outcomes"), sums: proven("sums") },
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
