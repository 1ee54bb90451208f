/** Observations of one pair of parties, counted: the ledger of disclosures and the bytes on the way. */
import { emptyLedger, type Ledger, ledgerEntries } from "./ledger.ts";
import { countsOf, isOfTraining, observe, type Observation, type SeenIn } from "./observation.ts";
import type { LedgerName, ObservationKind } from "./table.ts";

/** Payload bytes of training, without the framing of the transport. */
export interface Traffic {
  activeToPassive: number;
  passiveToActive: number;
}

/** Takes the observations themselves, as they are made. */
export type Watch = (observation: Observation) => void;

export class Tally {
  readonly #ledger = emptyLedger();
  readonly #traffic: Traffic = { activeToPassive: 0, passiveToActive: 0 };
  readonly #watch: Watch;

  constructor(watch: Watch = () => {}) {
    this.#watch = watch;
  }

  /** A copy: what has been disclosed so far. */
  get ledger(): Ledger {
    return { ...this.#ledger };
  }

  /** A copy: the bytes so far. */
  get traffic(): Traffic {
    return { ...this.#traffic };
  }

  /** A message has passed. @param seenIn the message, and what else this end knows of it */
  see<Kind extends ObservationKind>(kind: Kind, ...seenIn: SeenIn<Kind>): void {
    const observation = observe(kind, ...seenIn);
    for (const [field, count] of countsOf(observation)) {
      const name = field as LedgerName;
      this.#ledger[name] = count + (ledgerEntries[name].isOncePerJob === true ? 0 : this.#ledger[name]);
    }
    if (isOfTraining(observation))
      this.#traffic[observation.learner === "passive" ? "activeToPassive" : "passiveToActive"] += observation.bytes;
    this.#watch(observation);
  }
}
