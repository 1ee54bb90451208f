/**
 * Tandem as a library. The parts, from the outside in: whole federations on one machine, one party's process, the two
 * roles of the protocol over a transport of your choice, and plain gradient boosting.
 */
export { type ErrorCode, errorCodes, TandemError } from "./base/error.ts";
export { codecParameters, type CodecParameters, resolveParameters, trainingParameters, type TrainingParameters } from "./base/parameters.ts";
export { generateKey, type PrivateKey, type PublicKey, selectKernel } from "./crypto/index.ts";
export { binFeature, type BinnedFeature } from "./gbdt/binning.ts";
export { error, logloss, mae, poissonNloglik, rmse } from "./gbdt/metrics.ts";
export { auc, ks, separation } from "./gbdt/ranking-metrics.ts";
export type { Model } from "./gbdt/model.ts";
export { firstDifference } from "./gbdt/model-compare.ts";
export { predictionsOf, predictMargins } from "./gbdt/predict.ts";
export { trainCentralised } from "./gbdt/train.ts";
export { ActiveRole, type ActiveJob, type ActiveModel } from "./protocol/active-role.ts";
export { PaillierActive } from "./protocol/paillier-active.ts";
export { PaillierPassive } from "./protocol/paillier-passive.ts";
export { type PassiveJob, PassiveRole } from "./protocol/passive-role.ts";
export { writeXgboostModel, xgboostModel, type XgboostModel } from "./store/xgboost-export.ts";
export { connectInMemory } from "./transport/in-memory.ts";
export { passiveService } from "./transport/passive-service.ts";
export { connectTls, listenTls } from "./transport/tls.ts";
export { type ActiveConfig, type PassiveConfig, readActiveConfig, readPassiveConfig } from "./party/config.ts";
export type { PartyEvent } from "./party/events.ts";
export { type ExportedModel, exportModel, type ExportRequest } from "./party/export-model.ts";
export { type ConsentRequest, prepareConsent, type PreparedConsent } from "./party/give-consent.ts";
export { runActive, runAlignment } from "./party/run-active.ts";
export { type CrossValidationOptions, type CrossValidationResult, runCrossValidation } from "./party/run-cross-validation.ts";
export { runPassive } from "./party/run-passive.ts";
export { type PredictOptions, type PredictResult, runPredict } from "./party/run-predict.ts";
export { Scorer, type Scores, type ScoringRows } from "./party/scorer.ts";
export { runServe, type ServeOptions, startServer } from "./serving/run-serve.ts";
export { type DemoOptions, type DemoResult, runDemo } from "./experiment/demo.ts";
export { type FederationJob, type FederationResult, runFederation } from "./experiment/federation.ts";
export { simulate, type SimulateOptions, type SimulateResult } from "./experiment/simulate.ts";
