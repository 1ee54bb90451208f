/**
 * The definition of an event in one place: its schema, and how it appears in the log, the terminal, the page, the
 * report and Prometheus. Its type follows from the schema. A new event needs only an entry in a table of events/; where
 * a use is left out, the event does not appear there.
 *
 * Runs in browsers too.
 */
import * as z from "zod/mini";
import type { Immutable } from "../base/immutable.ts";
import { text } from "./fields.ts";
import type { JobView } from "./job-view.ts";
import type { LogLine } from "./log-line.ts";

type Fields = z.core.$ZodShape;
type Schema<F extends Fields> = z.ZodMiniObject<{ readonly party: typeof text } & F>;
type FieldsOf<F extends Fields> = Immutable<z.infer<Schema<F>>>;

interface EventUses<E> {
  /** false: not about a job, so no job's record keeps it. */
  readonly isOfJob?: false;
  /** The line in a party's log; null: none. */
  readonly log?: (event: E) => LogLine | null;
  /** The line that train, simulate and demo print. */
  readonly terminal?: {
    /** "own": only where it is an event of the party whose job is shown. */
    readonly of: "own" | "any";
    /** Identical lines are printed once: every fold of a cross-validation reads the same file. */
    readonly isOnce?: true;
    /** Left out: the party's name and the text of the log line. Null: no line. */
    readonly line?: (event: E) => string | null;
  };
  /** Adds the event to the view that page, report and terminal show. */
  readonly fold?: (view: JobView, event: E & { readonly at: number }) => void;
  /** Counted for Prometheus. */
  readonly counter?: EventCounter<E>;
}

export interface EventCounter<E> {
  readonly name: string;
  readonly help: string;
  /** All its values are exported from the start, as 0. */
  readonly label?: { readonly name: string; readonly values: readonly string[]; readonly of: (event: E) => string };
}

export interface EventDefinition<F extends Fields> extends EventUses<FieldsOf<F>> {
  readonly schema: Schema<F>;
}

/** @param fields in addition to type, party and time, which every event has */
export function event<F extends Fields>(fields: F, uses: EventUses<FieldsOf<F>> = {}): EventDefinition<F> {
  return { schema: z.object({ party: text, ...fields }), ...uses };
}

/** The type of an event in a table of definitions. */
export type EventIn<Table, T extends keyof Table> = {
  [K in T]: Table[K] extends EventDefinition<infer F> ? Immutable<{ type: K } & FieldsOf<F>> : never;
}[T];
