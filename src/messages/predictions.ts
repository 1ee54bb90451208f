/** Predictions within a job: of test rows at its end, and of all instances by a start model before its first round. */
import type { PassivePrediction } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { call, observation } from "./call.ts";

const testRows = call<"testRows">()({
  part: "prediction",
  observes: {
    "predicted ids": observation({
      learner: "passive",
      see: (ids: readonly string[]) => ({
        idCount: ids.length,
        bytes: ids.reduce((sum, id) => sum + textBytes(id), 0),
      }),
      counts: { predictedIds: ({ idCount }) => idCount },
    }),
  },
  ledger: {
    predictedIds: {
      learner: "passive",
      what: "the ids that are to be predicted",
      unit: "ids",
      scale: "predicted people",
    },
  },
});

const predict = call<"predict">()({
  part: "prediction",
  observes: {
    prediction: observation({
      learner: "active",
      see: ({ tree, node, leftMembers }: PredictionMessage, rowCount: number) => ({
        tree,
        node,
        rowCount,
        leftMembers,
        bytes: leftMembers.length,
      }),
      counts: { predictionOutcomes: ({ rowCount }) => rowCount },
    }),
  },
  ledger: {
    predictionOutcomes: {
      learner: "active",
      what: "the outcome of each of the party's splits",
      unit: "outcomes",
      scale: "predicted people of splits",
    },
  },
});

type PredictionMessage = Pick<PassivePrediction, "tree" | "node" | "leftMembers">;

/** Instead of `predict` in a job with masked scoring: the margins of rows, and no outcome. */
const maskOpen = call<"maskOpen">()({ part: "prediction" });

const maskStep = call<"maskStep">()({
  part: "prediction",
  observes: {
    scores: observation({
      learner: "active",
      /** @param message with the sums of a batch */
      see: (rowCount: number, message: Uint8Array) => ({ rowCount, bytes: message.length }),
      counts: { maskedScores: ({ rowCount }) => rowCount },
    }),
  },
  ledger: {
    maskedScores: {
      learner: "active",
      what: "where scoring is masked, the score",
      unit: "scores",
      scale: "predicted people",
    },
  },
});

function textBytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

export const predictionCalls = { testRows, predict, maskOpen, maskStep };
