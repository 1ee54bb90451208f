/**
 * What one side of a job sees of the other: one typed record per message, written where the message passes, by the end
 * that sends it and by the end that gets it. The ledger, the bytes on the way, the page and every attack on our own
 * jobs are made from these records, and from nothing else. The table of messages has their kinds.
 *
 * A record may hold what was seen, and so never goes to a log, an event or another party. Counts do (ledger.ts).
 */
import type { AnyObservation } from "./call.ts";
import { allCalls, type AnyCallFacts, type ObservationKind, type ObservationOf } from "./table.ts";

/** Any kind of observations. */
export type Observation = {
  [Kind in ObservationKind]: { readonly kind: Kind; readonly learner: ObservationOf<Kind>["learner"] } & Readonly<
    ReturnType<ObservationOf<Kind>["see"]>
  >;
}[ObservationKind];

/** The message that a kind is seen in, and what else an end knows of it. */
export type SeenIn<Kind extends ObservationKind> = Parameters<ObservationOf<Kind>["see"]>;

const kinds: ReadonlyMap<string, { readonly facts: AnyObservation; readonly part: AnyCallFacts["part"] }> = new Map(
  allCalls.flatMap(({ observes = {}, part }) =>
    Object.entries(observes).map(([kind, facts]) => [kind, { facts, part }]),
  ),
);

/** What both ends make of the same message. */
export function observe<Kind extends ObservationKind>(kind: Kind, ...seenIn: SeenIn<Kind>): Observation {
  const { learner, see } = factsOfKind(kind).facts;
  return { kind, learner, ...see(...(seenIn as never[])) } as Observation;
}

/** What of an observation is counted, by the fields of the ledger. */
export function countsOf(observation: Observation): readonly (readonly [field: string, count: number])[] {
  const { counts = {} } = factsOfKind(observation.kind).facts;
  return Object.entries(counts).map(([field, count]) => [field, count(observation as never)]);
}

/** What training costs on the line is compared with other systems'; prediction is not part of it. */
export function isOfTraining({ kind }: Observation): boolean {
  return factsOfKind(kind).part !== "prediction";
}

function factsOfKind(kind: ObservationKind) {
  const facts = kinds.get(kind);
  if (facts === undefined) throw new RangeError(`no call shows ${kind}`);
  return facts;
}
