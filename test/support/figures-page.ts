/** What test/campaigns/xgboost-figures.test.ts writes into docs/xgboost.md: its figures and the comparisons beside. */
import { defaultsTable } from "../../src/gbdt/parameters/xgboost-defaults.ts";

const oneClass = "`auc`, `aucpr`, `ks` are `-` or `null`, with a line";

export interface FiguresPage {
  readonly rows: { readonly train: number; readonly test: number };
  readonly seed: number;
  /** Parameters of every line. */
  readonly common: Readonly<Record<string, number | string>>;
  /** Of the table. */
  readonly lines: readonly string[];
}

/** What stands above the sections that others write. */
export function figuresPage({ rows, seed, common, lines }: FiguresPage): string {
  const count = (of: number): string => of.toLocaleString("en");
  return `# Beside XGBoost

The same table and the same parameters, in Tandem and in XGBoost 1.7.4 (\`tree_method=hist\`).

- Data: Give Me Some Credit, drawn with seed ${seed}:
  ${count(rows.train)} training rows and ${count(rows.test)} test rows. The metric is that of the test rows.
- Parameters, besides what the line says:
  ${Object.entries(common)
    .map(([key, value]) => `\`${key}=${value}\``)
    .join(", ")}.
- Tandem's model is the one that all parties train together. It does not depend on how columns are cut between them
  (test/oracle-features.test.ts).
- The figures are close, not equal. Both sides cut bins at quantiles, but not at the same places to the last value, and
  random draws differ. Where bins are given, both sides' trees are the same node for node (test/xgboost-golden.test.ts).
- \`tandem refresh\` gives XGBoost's own trees the leaves of its \`updater=refresh\` to 1e-4
  (test/xgboost-refresh.test.ts). In the table both sides refresh their own trees.
- \`tandem cv\` and \`tandem tune\` stand beside \`xgboost.cv\` with the same rows in each fold. The metric is the mean
  over the folds, of the rows that were held out, after the last round.

| what | label | parameters | metric | Tandem | XGBoost | difference | rounds |
|---|---|---|---|---|---|---|---|
${lines.join("\n")}

Not compared, since XGBoost 1.7 has no such thing on a processor: \`sampling_method=goss\`,
\`multi_strategy=multi_output_tree\`, \`local_rounds\`.

## Defaults that differ

All other parameters that XGBoost has too have its defaults. To train as XGBoost does, set its values.

${defaultsTable()}

## Other things, side by side

| what | XGBoost | Tandem |
|---|---|---|
| predictions of an exported model | float32 sums | the same to 1e-6, relative to max(1, \\|prediction\\|) |
| several \`eval_metric\` | all are evaluated, the last decides early stopping | the same |
| metrics of rows of one class | \`auc\` is NaN, with a warning | ${oneClass} |
| early stopping by such a metric | stops after \`early_stopping_rounds\` | is refused |
| a parameter of another objective | "not used", a warning | a line; \`num_class\` is refused |
| labels that are names | numbers only; scikit-learn's wrapper takes 0 to K - 1 | numbered as \`LabelEncoder\` does it |
| a column of numbers and text | pandas' \`category\` has to be set | categories by their text, with a line |
| a CSV file without a header | \`f0\`, \`f1\`, ... | the same with \`--no-header\` |
| LIBSVM | what is absent is missing; indices as they stand | the same |
| weights in a ranking | one per group: \`ndcg@5\` 0.91543 in a test | the same in all rows of a group: 0.91543 |
| \`booster=dart\` | draws its drops | draws others; given XGBoost's, trees and \`weight_drop\` are the same |
| dart that stops early | trees weigh what they did after the last round | after the best round |
| new leaves for dart | \`weight_drop\` has a second weight for every tree then | refused |
| \`booster=gblinear\` | no trees | refused |

Written by \`TANDEM_CAMPAIGN=1 TANDEM_FIGURES=1 npx vitest run test/campaigns/xgboost-figures.test.ts\`.
`;
}
