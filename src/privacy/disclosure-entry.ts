/** A disclosure, and what is known about a job before it starts. */
import type { Minimums } from "../gbdt/split/offered-candidates.ts";
import type { MembershipFacts } from "../base/membership.ts";
import type { Defences } from "./defences/defences.ts";
import type { VettingFacts } from "./vetting-disclosures.ts";

/** What is known about a job before it starts. Numbers are upper bounds; null: not known to the party that asks. */
export interface DisclosureFacts {
  readonly active: string;
  readonly passive: string;
  /** The trees and gradient rounds that passive parties take part in. */
  readonly trees: number;
  readonly rounds: number;
  /** Training continues a start model. */
  readonly hasStart: boolean;
  /** The job's, or those that a policy requires. */
  readonly defences: Defences;
  /** The defences are those a policy requires: jobs may have more. */
  readonly isPolicy?: boolean;
  /** Rounds before those, trained by the active party alone. */
  readonly localRounds: number;
  /** 0: no limit but that of leaves. */
  readonly depth: number;
  /** 0: no limit. */
  readonly leaves: number;
  readonly binsMax: number;
  /** The protocols that the job may be trained with. */
  readonly memberships: readonly MembershipFacts[];
  /** Where members are hidden: requests still name the parent and sibling of a node. */
  readonly treeShapeIsSent: boolean;
  /** Description of the key that gradients are encrypted with. */
  readonly key: string;
  readonly instances: number | null;
  readonly ciphertextsPerInstance: number | null;
  readonly sampling: Sampling | null;
  /** Null: they may be. */
  readonly columnsAreSampled: boolean | null;
  /** 0: one output. */
  readonly classes: number | null;
  readonly validationRows: number | null;
  /** Instances that are predicted at the end. */
  readonly predictedRows: number | null;
  /** Null: the files list the same instances in the same order. */
  readonly alignment: { readonly activeIds: number | null; readonly passiveIds: number | null } | null;
  /** Minimum of instances on each side of a candidate, and between neighbours; 1 or left out: no minimum. */
  readonly peopleMin?: number;
  /** Instances that a category needs on average before sets are named; left out: only the active party knows. */
  readonly categoryPeopleMin?: number;
  /** Which form the preset of the job takes (party/preset-form.ts); null or left out: it has one, or is not known. */
  readonly presetForm?: string | null;
  /** Whether the active party sends a party the contributions of its own features; left out: not known. */
  readonly sendsContributions?: boolean;
  /** Interaction groups of the job; null: there may be some. 0 or left out: none. */
  readonly groups?: number | null;
  /** The job is a vetting, or a policy allows them; left out: neither. */
  readonly vetting?: VettingFacts;
  readonly passiveParty: PassiveFacts;
}

export type Sampling =
  | { readonly method: "none" }
  | { readonly method: "uniform"; readonly fraction: number }
  | { readonly method: "goss"; readonly topFraction: number; readonly otherFraction: number }
  | { readonly method: "folds"; readonly folds: number };

/** What a passive party knows about itself; null: known to no other party. */
export interface PassiveFacts {
  readonly features: number | null;
  readonly candidates: number | null;
  readonly constrainedFeatures: number | null;
  /** Features that are split in sets of categories. */
  readonly groupedFeatures: number | null;
  /** Descriptions of its own features that have categories with few instances. Left out: not known. */
  readonly smallCategories?: readonly string[];
  readonly minimums: Minimums | null;
  readonly scoringIdsMax: number | "refused" | null;
  /** Scores may be explained; left out: not known. */
  readonly explains?: boolean;
  /** It accepts the contributions of its own features to scores; left out: not known. */
  readonly takesContributions?: boolean;
}

/** Upper bound of a disclosure in a job, null where it cannot be known, with a remark. */
export interface Extent {
  readonly atMost: number | null;
  readonly unit: string;
  readonly note?: string;
}

export interface DisclosureEntry {
  readonly learner: "active" | "passive";
  /** Verbatim from docs/leakage.md (a test compares). */
  readonly what: string;
  /** Null: not in this job. */
  readonly extent: (facts: DisclosureFacts) => Extent | null;
}
