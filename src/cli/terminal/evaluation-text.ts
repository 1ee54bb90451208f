/** An evaluation on the terminal: the summary of the report, and the decisions. */
import type { ModelEvaluation } from "../../record/evaluation/evaluation.ts";
import { evaluationSentences } from "../../record/evaluation/facts.ts";
import { cellText } from "../../record/evaluation/table.ts";
import { evaluationTables } from "../../record/evaluation/tables.ts";
import type { EvaluationTerms } from "../../record/evaluation/terms.ts";
import { textTable } from "./text-table.ts";

const shownColumns = ["rule", "cut-off", "flagged", "precision", "recall", "cost per row"];

/** @param others the other parties, in words */
export function evaluationText(evaluation: ModelEvaluation, terms: EvaluationTerms, others: string): string {
  const sentences = evaluationSentences(evaluation, others).map((sentence) => `  - ${sentence}`);
  const decisions = evaluationTables(evaluation, terms).find(({ name }) => name === "decisions");
  if (decisions === undefined) return `${sentences.join("\n")}\n`;
  const kept = decisions.columns.flatMap((column, i) => (shownColumns.includes(column.name) ? [{ column, i }] : []));
  const head = kept.map(({ column }) => column.name);
  const rows = decisions.rows.map((row) => kept.map(({ column, i }) => cellText(row[i], column)));
  return `${sentences.join("\n")}\n\n${textTable([head, ...rows])}\n`;
}
