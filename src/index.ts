/**
 * Tandem as a library. The parts, from the outside in: whole federations on one machine, one party's process, the two
 * roles of the protocol over a transport of your choice, and plain gradient boosting.
 */
export { type ErrorCode, errorCodes, TandemError } from "./base/error.ts";
export {
  codecParameters,
  type CodecParameters,
  privacyParameters,
  type PrivacyParameters,
  resolveParameters,
} from "./base/parameters/parameters.ts";
export { trainingParameters, type TrainingParameters } from "./gbdt/parameters/training-parameters.ts";
export { generateKey, type PrivateKey, type PublicKey, selectKernel } from "./crypto/paillier/index.ts";
export { binFeature, type BinnedFeature } from "./gbdt/split/binning.ts";
export { error, logloss, mae, rmse } from "./gbdt/metric/elementwise-metrics.ts";
export { poissonNloglik } from "./gbdt/metric/likelihood-metrics.ts";
export { auc, ks, separation } from "./gbdt/metric/auc-metrics.ts";
export type { Range } from "./base/gradients/real-gradients.ts";
export type { CustomObjective } from "./gbdt/objective/custom-objective.ts";
export type { Model } from "./gbdt/tree/model.ts";
export { firstDifference } from "./gbdt/tree/model-compare.ts";
export { allIterations, iterationRangeFrom, type IterationRange, slicedModel } from "./gbdt/tree/iterations.ts";
export { predictionsOf, predictLeaves, predictMargins } from "./gbdt/tree/predict.ts";
export { predictContributions } from "./gbdt/explain/contributions.ts";
export { trainCentralised } from "./gbdt/boost/train.ts";
export { ActiveRole, type ActiveJob, type ActiveModel } from "./protocol/active/role.ts";
export { PaillierActive } from "./scheme/paillier/active.ts";
export { PaillierPassive } from "./scheme/paillier/passive.ts";
export { type PassiveJob, PassiveRole } from "./protocol/passive/role.ts";
export { writeXgboostModel, xgboostModel, type XgboostModel } from "./store/xgboost/export.ts";
export { connectInMemory } from "./transport/in-memory.ts";
export { passiveService } from "./transport/passive-service.ts";
export { connectTls } from "./transport/tls-connect.ts";
export { listenTls } from "./transport/tls-listen.ts";
export { type ActiveConfig, type PassiveConfig, readActiveConfig, readPassiveConfig } from "./party/config/config.ts";
export type { PartyEvent } from "./record/events.ts";
export { type ExportedModel, exportModel, type ExportRequest } from "./party/model/export-model.ts";
export { type ConsentRequest, prepareConsent, type PreparedConsent } from "./party/model/give-consent.ts";
export { runActive, runAlignment } from "./party/active/run.ts";
export {
  type CrossValidationOptions,
  type CrossValidationResult,
  runCrossValidation,
} from "./party/active/cross-validation.ts";
export { runPassive } from "./party/passive/run.ts";
export { type PredictOptions, type PredictResult, runPredict } from "./scoring/run-predict.ts";
export { Scorer, type Scores, type ScoringRows } from "./scoring/scorer.ts";
export type { OutputKind, Wanted } from "./scoring/wanted.ts";
export { runServe, type ServeOptions, startServer } from "./scoring/http/run-serve.ts";
export { type DemoOptions, type DemoResult, runDemo } from "./simulate/demo.ts";
export { type FederationJob, type FederationResult, runFederation } from "./simulate/federation.ts";
export { simulate, type SimulateResult } from "./simulate/simulate.ts";
export type { SimulateOptions } from "./simulate/simulate-options.ts";
export { auditSimulation, type AuditOptions } from "./simulate/audit/audit.ts";
export { auditJob, type JobAudit } from "./simulate/audit/audit-job.ts";
export type { AuditResult } from "./privacy/attack/audit-result.ts";
