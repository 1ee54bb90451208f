/** Counts the observations of one pair of parties: the ledger of disclosures, and the traffic. */
import { emptyLedger, type Ledger, ledgerEntries } from "./ledger.ts";
import { countsOf, isOfTraining, observe, type Observation, type SeenIn } from "./observation.ts";
import type { LedgerName, ObservationKind } from "./table.ts";

/** Payload bytes of training, without the framing of the transport. */
export interface Traffic {
  activeToPassive: number;
  passiveToActive: number;
}

/** Receives each observation. */
export type Watch = (observation: Observation) => void;

export class Tally {
  readonly #ledger = emptyLedger();
  readonly #traffic: Traffic = { activeToPassive: 0, passiveToActive: 0 };
  readonly #watch: Watch;

  constructor(watch: Watch = () => {}) {
    this.#watch = watch;
  }

  /** A copy of the counts so far. */
  get ledger(): Ledger {
    return { ...this.#ledger };
  }

  /** A copy of the bytes so far. */
  get traffic(): Traffic {
    return { ...this.#traffic };
  }

  /** Counts a message. @param seenIn the message, and the context of this end */
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
