/**
 * A passive party as the active party sees it: the service of proto/, as plain methods. The in-memory and the TLS
 * transport both offer it; the protocol does not know which.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ActiveGradientsSchema,
  ActiveHelloSchema,
  ActiveJobFinishedSchema,
  ActiveNodeSchema,
  ActivePredictSchema,
  ActiveSetUpSchema,
  ActiveSplitDecisionsSchema,
  ActiveTreeFinishedSchema,
  PassiveGradientsTaken,
  PassiveHello,
  PassiveHistograms,
  PassiveJobStored,
  PassivePrediction,
  PassiveReady,
  PassiveSplit,
  PassiveTreeStored,
} from "./generated/tandem/v1/tandem_pb.ts";

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface PassivePeer {
  readonly name: string;
  join(hello: MessageInitShape<typeof ActiveHelloSchema>, options: CallOptions): AsyncIterable<PassiveHello>;
  setUp(setUp: MessageInitShape<typeof ActiveSetUpSchema>, options: CallOptions): Promise<PassiveReady>;
  gradients(
    chunks: AsyncIterable<MessageInitShape<typeof ActiveGradientsSchema>>,
    options: CallOptions,
  ): Promise<PassiveGradientsTaken>;
  histograms(
    nodes: AsyncIterable<MessageInitShape<typeof ActiveNodeSchema>>,
    options: CallOptions,
  ): AsyncIterable<PassiveHistograms>;
  splits(
    decisions: MessageInitShape<typeof ActiveSplitDecisionsSchema>,
    options: CallOptions,
  ): AsyncIterable<PassiveSplit>;
  finishTree(
    finished: MessageInitShape<typeof ActiveTreeFinishedSchema>,
    options: CallOptions,
  ): Promise<PassiveTreeStored>;
  predict(
    request: MessageInitShape<typeof ActivePredictSchema>,
    options: CallOptions,
  ): AsyncIterable<PassivePrediction>;
  finishJob(
    finished: MessageInitShape<typeof ActiveJobFinishedSchema>,
    options: CallOptions,
  ): Promise<PassiveJobStored>;
}
