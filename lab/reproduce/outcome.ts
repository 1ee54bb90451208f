/** The outcome of an experiment, before it is formatted: text, tables and figures. */

export interface Column {
  /** Columns of the same group stand under one heading; "" for none. */
  readonly group: string;
  readonly title: string;
}

export interface ResultTable {
  /** Of its files. */
  readonly name: string;
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
  readonly notes: readonly string[];
  /** Cells are text: they are aligned to the left, and may wrap. */
  readonly words?: boolean;
}

/** Groups of bars, and above each bar of the last series what share it is of the first: the paper's Figs. 5 to 7. */
export interface BarPanel {
  readonly kind: "bars";
  readonly title: string;
  readonly xTitle: string;
  readonly yTitle: string;
  readonly categories: readonly string[];
  readonly series: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
  /** One text above each bar of the last series. */
  readonly labels: readonly string[];
}

export interface LinePanel {
  readonly kind: "lines";
  readonly title: string;
  readonly xTitle: string;
  readonly yTitle: string;
  readonly xLog: boolean;
  readonly yLog: boolean;
  readonly yMax?: number;
  readonly series: readonly {
    readonly name: string;
    readonly points: readonly (readonly [number, number])[];
    readonly dashed?: boolean;
  }[];
}

export interface ResultFigure {
  readonly name: string;
  readonly caption: string;
  readonly panels: readonly (BarPanel | LinePanel)[];
}

export interface ExperimentOutcome {
  readonly name: string;
  readonly title: string;
  /** Where in the paper. */
  readonly reference: string;
  /** Where we agree with the paper and where not. */
  readonly paragraph: string;
  readonly tables: readonly ResultTable[];
  readonly figures: readonly ResultFigure[];
}

/** Columns without a group. */
export function plainColumns(...titles: readonly string[]): Column[] {
  return titles.map((title) => ({ group: "", title }));
}
