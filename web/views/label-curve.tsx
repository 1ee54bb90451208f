/** How well labels could be guessed after each tree that was seen: the model's own AUC above, chance below. */
import { finite } from "../../src/base/text/format.ts";
import { aucRange, type LabelExposure } from "../../src/record/exposure-facts.ts";
import { Behind, Nothing, Table } from "./card.tsx";
import { Chart } from "./chart.tsx";

export function LabelCurve({ learner, labels }: { readonly learner: string; readonly labels: LabelExposure }) {
  const { byTree, modelAuc } = labels;
  if (byTree.length === 0) return <Nothing>{`${learner} saw no tree.`}</Nothing>;
  return (
    <>
      <Chart
        label={`AUC of the best guess of your labels by ${learner}, after each tree`}
        x={byTree.map(({ tree }) => tree)}
        xLabel="tree"
        wholeX
        yRange={aucRange(labels)}
        series={[
          { label: "best guess", colour: "--party-0", values: byTree.map(({ auc }) => auc) },
          { label: "the model", colour: "--party-active", values: byTree.map(() => modelAuc), dash: "dashed" },
          { label: "chance", colour: "--text-soft", values: byTree.map(() => 0.5), dash: "dotted" },
        ]}
      />
      <Behind
        table={() => (
          <Table
            caption="AUC of the best guess"
            head={["tree", "best guess"]}
            rows={byTree.map(({ tree, auc }) => [String(tree), finite(auc).toFixed(4)])}
          />
        )}
      />
    </>
  );
}
