/** Observations of one pair of parties, counted: the ledger of disclosures and the bytes on the way. */
import { emptyLedger, type Ledger } from "./ledger.ts";
import type { Observation } from "./observation.ts";

/** Payload bytes of training, without the framing of the transport. */
export interface Traffic {
  activeToPassive: number;
  passiveToActive: number;
}

/** Who wants to see the observations themselves, as they are made. */
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

  see(observation: Observation): void {
    enter(this.#ledger, observation);
    if (!isOfPrediction(observation)) {
      this.#traffic[observation.learner === "passive" ? "activeToPassive" : "passiveToActive"] += observation.bytes;
    }
    this.#watch(observation);
  }
}

function enter(ledger: Ledger, observation: Observation): void {
  switch (observation.kind) {
    case "gradients":
      ledger.encryptedGradients += observation.ciphertexts;
      break;
    case "sealed node":
      ledger.encryptedGradients += observation.ciphertexts;
      break;
    case "hints":
      ledger.candidateLinks = observation.candidateCount;
      break;
    case "members":
      ledger.memberships += observation.instanceCount;
      break;
    case "win":
      ledger.wins++;
      break;
    case "predicted ids":
      ledger.predictedIds += observation.idCount;
      break;
    case "candidates":
      ledger.candidates = observation.candidateCount;
      break;
    case "sums":
      ledger.candidateSums += observation.counts.length;
      if (observation.isDrawn) ledger.drawnTogether += observation.counts.length;
      break;
    case "order":
      ledger.candidateOrders += observation.entryCount;
      break;
    case "outcome":
      // One end does not know how many were chosen: both count from how many.
      if (observation.transfers > 0) ledger.outcomeTransfers += observation.transfers;
      else ledger.splitOutcomes += observation.instanceCount;
      break;
    case "open groups":
      ledger.openGroups++;
      break;
    case "split groups":
      ledger.splitGroups++;
      break;
    case "choices":
    case "outcome keys":
      break; // they tell nothing
    case "prediction":
      ledger.predictionOutcomes += observation.rowCount;
      break;
    case "scores":
      ledger.maskedScores += observation.rowCount;
      break;
  }
}

/** What training costs on the line is compared with other systems'; prediction is not part of it. */
function isOfPrediction({ kind }: Observation): boolean {
  return kind === "predicted ids" || kind === "prediction" || kind === "scores";
}
