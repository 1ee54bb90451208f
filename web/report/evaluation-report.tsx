/** The report of an evaluation on later rows: the summary and the figures that a job's report has for its test rows. */
import { partWords } from "../../src/record/evaluation/facts.ts";
import { scoreCurvesOf } from "../../src/record/evaluation/evaluation.ts";
import { EvaluationCards, EvaluationSummary } from "../views/evaluation.tsx";
import { ScoreCards } from "../views/quality.tsx";
import { htmlPage, timeText } from "./html-page.tsx";
import type { evaluationReport as declared } from "./reports.js";

export const evaluationReport: typeof declared = ({ evaluation, job, party, others, terms }, madeAt) => {
  const scores = scoreCurvesOf(evaluation);
  return htmlPage(
    `Tandem: ${job}, evaluated`,
    <>
      <header>
        <h1 class="title">{job}, evaluated on later rows</h1>
        <p class="lead">
          {`The federated model of ${party} and ${others}, on rows whose labels came later. Only ${party} sees this. `}
          {`Report made ${timeText(madeAt)}.`}
        </p>
      </header>
      <section class="part summary">
        <h2>Summary</h2>
        <EvaluationSummary evaluation={evaluation} terms={terms} others={others} />
      </section>
      <section class="part">
        <h2>Quality</h2>
        <div class="grid">
          {scores !== null && <ScoreCards scores={scores} of={partWords[evaluation.shown]} />}
          <EvaluationCards evaluation={evaluation} terms={terms} />
        </div>
      </section>
    </>,
  );
};
