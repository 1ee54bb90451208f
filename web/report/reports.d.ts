/**
 * The reports, declared for src/. The types of components include those of the browser's DOM, which code for Node must
 * not see.
 */
import type { TuneOutcome } from "../../src/gbdt/tune/outcome.ts";
import type { ModelEvaluation } from "../../src/record/evaluation/evaluation.ts";
import type { EvaluationTerms } from "../../src/record/evaluation/terms.ts";
import type { Vetting } from "../../src/record/vetting/vetting.ts";
import type { JobViews } from "../../src/record/stored-record.ts";

export interface JobReportOptions {
  /** False leaves out what only the party itself may see: splits, curves of scores, exposure. */
  readonly withOwn?: boolean;
  /** Where scores are cut, and what wrong decisions cost. */
  readonly terms?: EvaluationTerms;
}

/** @returns an HTML file */
export declare function jobReport(views: JobViews, madeAt: Date, options?: JobReportOptions): string;

export interface EvaluationReport {
  readonly evaluation: ModelEvaluation;
  readonly party: string;
  readonly job: string;
  readonly others: string;
  readonly terms: EvaluationTerms;
}

/** Of a model on later rows. @returns an HTML file */
export declare function evaluationReport(report: EvaluationReport, madeAt: Date): string;

export interface TuneReport extends TuneOutcome {
  readonly job: string;
  readonly instances: number;
  /** Between which parties, in words. */
  readonly where: string;
}

/** @returns an HTML file */
export declare function tuneReport(report: TuneReport, madeAt: Date): string;

/** Of the columns that were vetted. @returns an HTML file */
export declare function vettingReport(vetting: Vetting, madeAt: Date): string;
