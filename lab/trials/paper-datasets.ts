/**
 * The two public tables of the paper's Table I, and which columns we give to which party. The paper says how many
 * columns each party holds, but not which; our choice, and where it cannot be matched, is explained in docs/data.md.
 */
export type DatasetName = "default" | "giveme";

export interface PaperDataset {
  readonly name: DatasetName;
  readonly title: string;
  /** The original file's name; `.gz` may be appended. */
  readonly file: string;
  readonly id: string;
  readonly label: string;
  readonly active: readonly string[];
  readonly passive: readonly string[];
  readonly trainRows: number;
  readonly testRows: number;
  /** Quantisation of the paper's slots on this table (sec. IV-B and IV-C). */
  readonly alphaMax: number;
  readonly r: number;
}

export const paperDatasets: Readonly<Record<DatasetName, PaperDataset>> = {
  default: {
    name: "default",
    title: "Default of Credit Card Clients",
    file: "UCI_Credit_Card.csv",
    id: "ID",
    label: "default.payment.next.month",
    // What a lender knows of its customer; how the customer pays comes from the other party.
    active: ["LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE"],
    passive: [
      "PAY_0",
      "PAY_2",
      "PAY_3",
      "PAY_4",
      "PAY_5",
      "PAY_6",
      "BILL_AMT1",
      "BILL_AMT2",
      "BILL_AMT3",
      "BILL_AMT4",
      "BILL_AMT5",
      "BILL_AMT6",
      "PAY_AMT1",
      "PAY_AMT2",
      "PAY_AMT3",
      "PAY_AMT4",
      "PAY_AMT5",
      "PAY_AMT6",
    ],
    trainRows: 18_300,
    testRows: 5_699,
    alphaMax: 1e6,
    r: 30,
  },
  giveme: {
    name: "giveme",
    title: "Give Me Some Credit",
    file: "cs-training.csv",
    id: "#0",
    label: "SeriousDlqin2yrs",
    // As FATE, in which the paper's experiments were made, cuts this table.
    active: [
      "NumberOfOpenCreditLinesAndLoans",
      "NumberOfTimes90DaysLate",
      "NumberRealEstateLoansOrLines",
      "NumberOfTime60-89DaysPastDueNotWorse",
      "NumberOfDependents",
    ],
    passive: [
      "RevolvingUtilizationOfUnsecuredLines",
      "age",
      "NumberOfTime30-59DaysPastDueNotWorse",
      "DebtRatio",
      "MonthlyIncome",
    ],
    trainRows: 91_500,
    testRows: 30_000,
    alphaMax: 1e7,
    r: 40,
  },
};
