/** What test/campaigns/xgboost-figures.test.ts writes into docs/xgboost.md: its figures and other comparisons. */
import { defaultsTable } from "../../src/gbdt/parameters/xgboost-defaults.ts";

const oneClass = "`auc`, `aucpr`, `ks` are `-` or `null`, with a message";

export interface FiguresPage {
  readonly rows: { readonly train: number; readonly test: number };
  readonly seed: number;
  /** Parameters of every row. */
  readonly common: Readonly<Record<string, number | string>>;
  /** Of the table. */
  readonly lines: readonly string[];
}

/** The part above the sections that other tests write. */
export function figuresPage({ rows, seed, common, lines }: FiguresPage): string {
  const count = (of: number): string => of.toLocaleString("en");
  return `# Comparison with XGBoost

How close Tandem's models are to XGBoost's on the same data with the same parameters, and where the two differ. The
figures below are measured against XGBoost 1.7.4 (\`tree_method=hist\`).

- Data: Give Me Some Credit, drawn with seed ${seed}:
  ${count(rows.train)} training rows and ${count(rows.test)} test rows. Metrics are those of the test rows.
- Parameters, unless the row says otherwise:
  ${Object.entries(common)
    .map(([key, value]) => `\`${key}=${value}\``)
    .join(", ")}.
- Tandem's model is the federated one. It does not depend on how columns are split between parties
  (test/oracle-features.test.ts).
- The figures are close, not equal: both cut bins at quantiles, but not at identical values, and random draws differ.
  With the same bins, trees are equal node for node (test/xgboost-golden.test.ts). \`bin_cuts=xgboost\` cuts columns
  where XGBoost cuts the same rows in the same order, and breaks ties as XGBoost does. On 12,000 rows of continuous
  columns all predictions then agree with XGBoost's to 2e-6 (test/xgboost-cuts.test.ts), also those of
  [held-out rows](#held-out-rows). XGBoost's cuts with sample weights are not available: passive parties do not know
  the weights.
- The order of rows is that of their ids as text: 10 comes before 9. Without an id column, row numbers are the ids of
  \`tandem simulate\`.
- Applied to XGBoost's own trees, \`tandem refresh\` gives the leaves of \`updater=refresh\` to 1e-4
  (test/xgboost-refresh.test.ts). In the table each side refreshes its own trees.
- \`tandem cv\` and \`tandem tune\` are compared with \`xgboost.cv\` on the same folds. The metric is the mean over the
  held-out rows of the folds, after the last round.

| what | label | parameters | metric | Tandem | XGBoost | difference | rounds |
|---|---|---|---|---|---|---|---|
${lines.join("\n")}

Not compared: \`sampling_method=goss\` (LightGBM's; XGBoost's \`gradient_based\` is not supported),
\`multi_strategy=multi_output_tree\` (XGBoost 2.0 or later), \`local_rounds\` (Tandem's own).

## Defaults that differ

All other parameters that XGBoost has too have its defaults. To train as XGBoost does, set these to its values.

${defaultsTable()}

## Other behaviour

| what | XGBoost | Tandem |
|---|---|---|
| predictions of an exported model | float32 sums | the same to 1e-6, relative to max(1, \\|prediction\\|) |
| several \`eval_metric\` | all are evaluated, the last decides early stopping | the same |
| metrics on rows of one class | \`auc\` is NaN, with a warning | ${oneClass} |
| early stopping by such a metric | stops after \`early_stopping_rounds\` | refused |
| a parameter of another objective | a warning, "not used" | a message; \`num_class\` is refused |
| class names as labels | numbers only; scikit-learn's wrapper takes 0 to K - 1 | numbered as by \`LabelEncoder\` |
| a column of numbers and text | pandas' \`category\` has to be set | categories, compared as text, with a message |
| a CSV file without a header | \`f0\`, \`f1\`, ... | the same with \`--no-header\` |
| LIBSVM | absent entries are missing; indices unchanged | the same |
| weights in a ranking | one per group: \`ndcg@5\` 0.91543 in a test | equal in all rows of a group: 0.91543 |
| \`booster=dart\` | random dropouts | other random dropouts; with XGBoost's, trees and \`weight_drop\` are the same |
| early stopping with dart | tree weights as of the last round | tree weights as of the best round |
| refresh with dart | \`weight_drop\` gets a second weight for every tree | refused |
| \`booster=gblinear\` | a linear model | refused |

Written by \`TANDEM_CAMPAIGN=1 TANDEM_FIGURES=1 npx vitest run test/campaigns/xgboost-figures.test.ts\`.
`;
}
