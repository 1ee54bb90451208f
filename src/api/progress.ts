/** How a job is getting on, made from the events of a party's record. Nothing in it is a secret. */
import type { PartyEvent } from "../record/events.ts";

/** Metrics by name, such as `auc` or `rmse`. NaN: it is not defined for the rows, as the AUC of one class. */
export type Metrics = Readonly<Record<string, number>>;

/** Metrics of the rows that were trained on, of those held out for validation, and of those held back for testing. */
export interface ModelMetrics {
  readonly train: Metrics;
  readonly validation?: Metrics;
  /** Null: no rows were held back. */
  readonly test: Metrics | null;
}

/** One step of a job, at the party that reports it. */
export type Progress = { readonly party: string } & (
  | { readonly type: "started"; readonly job: string; readonly treeCount: number }
  | { readonly type: "aligned"; readonly commonCount: number }
  | {
      readonly type: "tree";
      /** Trees that are finished. */
      readonly treesDone: number;
      readonly treeCount: number;
      /** After this tree; only the active party has them. */
      readonly metrics?: { readonly train: Metrics; readonly validation?: Metrics };
    }
  | {
      /** A party cannot be reached, and is tried again. */
      readonly type: "waiting";
      readonly message: string;
      readonly delayMs: number;
    }
  | { readonly type: "notice"; readonly message: string }
  | {
      /** A job of a passive party has ended; `error` where it failed. */
      readonly type: "ended";
      readonly job: string;
      readonly error: { readonly code: string; readonly message: string } | null;
    }
);

/** Called once per step. It must not throw. */
export type OnProgress = (progress: Progress) => void;

/** @internal @returns null for events that are about how a party works inside */
export function toProgress(event: PartyEvent): Progress | null {
  const { party } = event;
  switch (event.type) {
    case "job":
      return { party, type: "started", job: event.job, treeCount: event.treeCount };
    case "aligned":
      return { party, type: "aligned", commonCount: event.commonCount };
    case "tree": {
      const { tree, treeCount, metrics: train, validation } = event;
      const metrics = { train: withoutNulls(train), ...(validation && { validation: withoutNulls(validation) }) };
      return { party, type: "tree", treesDone: tree + 1, treeCount, metrics };
    }
    case "passive-tree":
      return { party, type: "tree", treesDone: event.tree + 1, treeCount: event.treeCount };
    case "waiting":
      return { party, type: "waiting", message: event.message, delayMs: event.delayMs };
    case "notice":
      return { party, type: "notice", message: event.words };
    case "job-ended":
      return { party, type: "ended", job: event.job, error: event.failure };
    default:
      return null;
  }
}

/** What travelled as JSON has null for NaN. @internal */
export function withoutNulls(metrics: Readonly<Record<string, number | null>>): Metrics {
  return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, value ?? Number.NaN]));
}

/** @internal */
export function toModelMetrics({ train, validation, test }: ModelMetrics): ModelMetrics {
  return {
    train: withoutNulls(train),
    ...(validation && { validation: withoutNulls(validation) }),
    test: test && withoutNulls(test),
  };
}
