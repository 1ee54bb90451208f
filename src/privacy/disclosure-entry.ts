/** What a disclosure is, and what is known of a job before it starts. */
import type { Minimums } from "../gbdt/split/offered-candidates.ts";
import type { MembershipFacts } from "../base/membership.ts";
import type { Defences } from "./defences/defences.ts";

/** What is known of a job before it starts. Numbers are upper bounds; null: the party that asks cannot know it. */
export interface DisclosureFacts {
  readonly active: string;
  readonly passive: string;
  /** The trees that passive parties take part in, and the rounds that these are. */
  readonly trees: number;
  readonly rounds: number;
  /** Training goes on from a model that the parties have made before. */
  readonly hasStart: boolean;
  /** The job's, or those that a policy demands. */
  readonly defences: Defences;
  /** The defences are a policy's: jobs may have more. */
  readonly isPolicy?: boolean;
  /** Rounds of the active party alone, before them. */
  readonly localRounds: number;
  /** 0: no limit but that of leaves. */
  readonly depth: number;
  /** 0: no limit. */
  readonly leaves: number;
  readonly binsMax: number;
  /** The protocols that the job may be trained with. */
  readonly memberships: readonly MembershipFacts[];
  /** Where members are hidden: requests name the parent and sibling of a node all the same. */
  readonly treeShapeIsSent: boolean;
  /** What the gradients are encrypted with, in words. */
  readonly key: string;
  readonly instances: number | null;
  readonly ciphertextsPerInstance: number | null;
  readonly sampling: Sampling | null;
  /** Null: they may be. */
  readonly columnsAreSampled: boolean | null;
  /** 0: one output. */
  readonly classes: number | null;
  readonly validationRows: number | null;
  /** People who are predicted at the end. */
  readonly predictedRows: number | null;
  /** Null: the files list the same people in the same order. */
  readonly alignment: { readonly activeIds: number | null; readonly passiveIds: number | null } | null;
  /** People that the job asks of each side of a candidate, and between neighbours; 1 or left out: no minimum. */
  readonly peopleMin?: number;
  /** People that a category needs on average before sets are named; left out: only the active party knows. */
  readonly categoryPeopleMin?: number;
  /** Whether the active party tells what a party's own features add to people's scores; left out: not known. */
  readonly tellsContributions?: boolean;
  /** Interaction groups of the job; null: there may be some. 0 or left out: none. */
  readonly groups?: number | null;
  readonly passiveParty: PassiveFacts;
}

export type Sampling =
  | { readonly method: "none" }
  | { readonly method: "uniform"; readonly fraction: number }
  | { readonly method: "goss"; readonly topFraction: number; readonly otherFraction: number }
  | { readonly method: "folds"; readonly folds: number };

/** A passive party's own side; null where only itself knows. */
export interface PassiveFacts {
  readonly features: number | null;
  readonly candidates: number | null;
  readonly constrainedFeatures: number | null;
  /** Features that are split in sets of categories. */
  readonly groupedFeatures: number | null;
  /** In words: its own features with categories of few people. Left out: not known. */
  readonly smallCategories?: readonly string[];
  readonly minimums: Minimums | null;
  readonly scoringIdsMax: number | "refused" | null;
  /** Scores may be explained; left out: not known. */
  readonly explains?: boolean;
  /** It takes what its own features add to people's scores; left out: not known. */
  readonly takesContributions?: boolean;
}

/** How much of a disclosure a job can have, null where that cannot be known; and what else is to be said of it. */
export interface Extent {
  readonly atMost: number | null;
  readonly unit: string;
  readonly note?: string;
}

export interface DisclosureEntry {
  readonly learner: "active" | "passive";
  /** As docs/leakage.md says it, word for word (a test compares). */
  readonly what: string;
  /** Null: not in this job. */
  readonly extent: (facts: DisclosureFacts) => Extent | null;
}
