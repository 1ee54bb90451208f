/** Tandem as a library: train between companies, serve as a passive party, score people. */
export { type ErrorCode, errorCodes, TandemError } from "../base/error.ts";
export type { Range } from "../base/gradients/real-gradients.ts";
export type { CustomObjective } from "../gbdt/objective/custom-objective.ts";
export { type Certificate, createCertificate } from "./certificate.ts";
export { type FederatedModel, type FederatedScores, openModel, type ScoreOptions } from "./federated-model.ts";
export type { ActiveConfig, PassiveConfig, TrainingParameters } from "./parameters.ts";
export { type ListenOptions, party, type Party, type PartyServer } from "./party.ts";
export type { Predictions, Scores } from "./predictions.ts";
export type { Metrics, ModelMetrics, OnProgress, Progress } from "./progress.ts";
export type { Table } from "./table.ts";
export { train, type TrainOptions, type TrainResult } from "./train.ts";
