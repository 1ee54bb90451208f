/**
 * The fields of a defence. A defence lowers what a job reveals. Either party can require it: the active party in
 * `privacy` of its config, a passive party in `policy.privacy`. A job with less than a policy requires is refused; a
 * party's settings are never raised for it.
 *
 * 0 and false mean off.
 */
import type { MembershipFacts } from "../../base/membership.ts";
import type { NumberSpec, SwitchSpec } from "../../base/parameters/parameter-spec.ts";

export type DefenceValue = number | boolean;

/** A defence with a value of 0 or more. */
export interface AmountDefence extends DefenceFacts {
  readonly parameter: NumberSpec & { readonly default: 0; readonly min: 0; readonly max: number };
  /** Which of two values other than 0 reveals less. */
  readonly stricter: "higher" | "lower";
  /** Formats a value for a table; left out: the plain number. */
  readonly format?: (value: number) => string;
}

/** A defence that is on or off. */
export interface SwitchDefence extends DefenceFacts {
  readonly parameter: SwitchSpec & { readonly default: false };
}

export type Defence = AmountDefence | SwitchDefence;

interface DefenceFacts {
  /** Text for the list of a job's defences: "masked scoring". The value of a switch that is on is 1 here. */
  readonly phrase: (value: number) => string;
  /** What it lowers, for the page and the report: "what scoring reveals". */
  readonly lowers: string;
  /** What that is about; left out: a passive party's columns. */
  readonly lowersOf?: string;
  /** Notes about disclosures of a job with this defence, by name of the disclosure. */
  readonly notes?: Readonly<Record<string, (value: number) => string>>;
  /** The training protocols that support it; left out: all. */
  readonly appliesTo?: (membership: MembershipFacts) => boolean;
  /** It needs a scheme whose sums can be masked. */
  readonly needsMasks?: true;
  /** Why it is refused with another protocol or scheme; required with `appliesTo` and `needsMasks`. */
  readonly refusal?: (scheme: string) => string;
  /** The switch that a preset may have in its place; left out: none. */
  readonly replacedBy?: "hidden_sums";
  /** It counts the instances of nodes, so where members are hidden it applies at the root only. */
  readonly countsMembers?: true;
  /**
   * How `tandem audit --what-if` tries it: "none", since the audit does not measure it; "scoring", without training
   * again, since it changes scoring only; or together with another one. Left out: alone, in a separate training.
   */
  readonly audit?: "none" | "scoring" | { readonly with: string };
}
