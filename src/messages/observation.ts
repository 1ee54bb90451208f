/**
 * What one side of a job learns about the other: one typed record per message, created by its sender and by its
 * receiver. The ledger, the traffic, the page and every attack on one's own jobs are made from these records alone. The
 * table of messages defines their kinds.
 *
 * A record may hold disclosed data, so it is never logged, emitted or sent. Counts may be (ledger.ts).
 */
import type { AnyObservation } from "./call.ts";
import { allCalls, type AnyCallFacts, type ObservationKind, type ObservationOf } from "./table.ts";

/** An observation of any kind. */
export type Observation = {
  [Kind in ObservationKind]: { readonly kind: Kind; readonly learner: ObservationOf<Kind>["learner"] } & Readonly<
    ReturnType<ObservationOf<Kind>["see"]>
  >;
}[ObservationKind];

/** The arguments of `see`: the message, and the context of this end. */
export type SeenIn<Kind extends ObservationKind> = Parameters<ObservationOf<Kind>["see"]>;

const kinds: ReadonlyMap<string, { readonly facts: AnyObservation; readonly part: AnyCallFacts["part"] }> = new Map(
  allCalls.flatMap(({ observes = {}, part }) =>
    Object.entries(observes).map(([kind, facts]) => [kind, { facts, part }]),
  ),
);

/** Both ends create the same observation from a message. */
export function observe<Kind extends ObservationKind>(kind: Kind, ...seenIn: SeenIn<Kind>): Observation {
  const { learner, see } = factsOfKind(kind).facts;
  return { kind, learner, ...see(...(seenIn as never[])) } as Observation;
}

/** The counts of an observation, by field of the ledger. */
export function countsOf(observation: Observation): readonly (readonly [field: string, count: number])[] {
  const { counts = {} } = factsOfKind(observation.kind).facts;
  return Object.entries(counts).map(([field, count]) => [field, count(observation as never)]);
}

/** Traffic of training is compared with other systems; prediction is not part of it. */
export function isOfTraining({ kind }: Observation): boolean {
  return factsOfKind(kind).part !== "prediction";
}

function factsOfKind(kind: ObservationKind) {
  const facts = kinds.get(kind);
  if (facts === undefined) throw new RangeError(`unknown kind of observation: ${kind}`);
  return facts;
}
