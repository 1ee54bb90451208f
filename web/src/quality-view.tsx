/** How well the model learns and, when it is finished, separates the people of the test rows. */
import { formatMetric } from "../../src/base/text/format.ts";
import { Card, Figure, Nothing } from "../views/card.tsx";
import { partWords } from "../../src/record/evaluation/facts.ts";
import { EvaluationCards, MainCharts } from "../views/evaluation.tsx";
import { MetricsTable, ScoreCards } from "../views/quality.tsx";
import { LearningCurves } from "./learning-curves.tsx";
import { jobViews } from "./session.ts";

export function QualityView() {
  const { view, own } = jobViews.value;
  const { scores, evaluation } = own;
  const test = view.result?.metrics.test ?? null;
  return (
    <>
      <h1 class="title">Quality</h1>
      {test !== null && (
        <section class="status" aria-label="Metrics on test rows">
          <div class="figures">
            {Object.entries(test).map(([name, value]) => (
              <Figure key={name} value={formatMetric(value)} label={`test ${name}`} />
            ))}
            {view.data !== null && <Figure value={view.data.testRows.toLocaleString("en")} label="test rows" />}
          </div>
        </section>
      )}
      <div class="grid">
        <Card title="Learning curve">
          <LearningCurves view={view} />
        </Card>
        {scores === null ? (
          evaluation === null && (
            <Card title="Scores">
              <Nothing>
                {view.role === "passive"
                  ? "Only the active party sees scores."
                  : "The evaluation appears here after the last tree: curves, deciles, calibration, decisions."}
              </Nothing>
            </Card>
          )
        ) : (
          <ScoreCards scores={scores} of={partWords[evaluation?.shown ?? "test"]} />
        )}
        {view.rounds.length > 0 && (
          <Card title="Metrics" wide>
            <MetricsTable view={view} />
          </Card>
        )}
        {evaluation !== null && (
          <>
            <MainCharts evaluation={evaluation} />
            <EvaluationCards evaluation={evaluation} />
          </>
        )}
      </div>
    </>
  );
}
