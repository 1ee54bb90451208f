/**
 * The seam to a cipher. A scheme is registered in every process that takes part, before `train` or `party`; configs,
 * policies and handshakes then know it by its name.
 */
export { columnCount, type GradientLayout } from "../codec/layout.ts";
export type { QuantisedGradients } from "../base/gradients/quantised-gradients.ts";
export { clearSums } from "../scheme/candidates/clear-sums.ts";
export type { HiddenTask, NodeTask, SentTask } from "../scheme/candidates/node-task.ts";
export type { SentNodes } from "../scheme/candidates/sent-nodes.ts";
export type * from "../scheme/hidden-scheme.ts";
export { registerScheme, schemeNames } from "../scheme/registry.ts";
export * from "../scheme/scheme.ts";
export type * from "../scheme/sent-scheme.ts";
