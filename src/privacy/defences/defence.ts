/**
 * What the table of defences says of each. A defence lowers what a job reveals. Either party asks for it: the active
 * party in `privacy` of its config, a passive party in `policy.privacy`. A job that has less of it than a policy asks
 * for is refused; nothing is raised without its owner.
 *
 * 0 and false are off: the job is as if there were no such defence.
 */
import type { MembershipFacts } from "../../base/membership.ts";
import type { NumberSpec, SwitchSpec } from "../../base/parameters/parameter-spec.ts";

export type DefenceValue = number | boolean;

/** Of a value from 0 on. */
export interface AmountDefence extends DefenceFacts {
  readonly parameter: NumberSpec & { readonly default: 0; readonly min: 0; readonly max: number };
  /** Which of two values, neither of them 0, reveals less. */
  readonly stricter: "higher" | "lower";
  /** A value in a table; left out: the number as it is. */
  readonly format?: (value: number) => string;
}

/** Of true and false. */
export interface SwitchDefence extends DefenceFacts {
  readonly parameter: SwitchSpec & { readonly default: false };
}

export type Defence = AmountDefence | SwitchDefence;

interface DefenceFacts {
  /** In a list of what a job ran with: "masked scoring". A switch that is on is 1 here. */
  readonly phrase: (value: number) => string;
  /** What is lower with it, as the page and the report show it: "what scoring reveals". */
  readonly lowers: string;
  /** Of what; left out: of a passive party's columns. */
  readonly lowersOf?: string;
  /** Remarks about disclosures of a job that has it, by the name of a disclosure. */
  readonly notes?: Readonly<Record<string, (value: number) => string>>;
  /** The training protocols that have a use for it; left out: all. */
  readonly appliesTo?: (membership: MembershipFacts) => boolean;
  /** Why it is refused with another protocol, where `appliesTo` stands. */
  readonly refusal?: (scheme: string) => string;
  /** It counts the instances of nodes, so it holds at the root only where a party does not know them. */
  readonly countsMembers?: true;
  /**
   * How `tandem audit --what-if` tries it: not at all, since it measures nothing of it; without training anew, since it
   * changes scoring only; or together with another one. Left out: alone, in a training of its own.
   */
  readonly audit?: "none" | "scoring" | { readonly with: string };
}
