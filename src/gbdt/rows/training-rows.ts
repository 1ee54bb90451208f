/**
 * The instances of a job as the active party knows them besides their features: labels, per-row columns, and which of
 * them are held out for validation (XGBoost's MetaInfo). Training and evaluation take them as this one object.
 */
import { columnsOfRows, noColumns, type RowColumns } from "../../base/rows/row-columns.ts";
import { selectFloat64, otherRows } from "../../base/rows/row-numbers.ts";
import type { CustomObjective } from "../objective/custom-objective.ts";

export interface RowOptions {
  readonly columns?: RowColumns | undefined;
  /** Instances that are routed and evaluated, but not trained on; ascending. Null or left out: none. */
  readonly validation?: Uint32Array | null | undefined;
  /** Custom gradients; null or left out: the objective's. */
  readonly custom?: CustomObjective | null | undefined;
}

export class TrainingRows {
  readonly labels: Float64Array;
  readonly columns: RowColumns;
  readonly validation: Uint32Array | null;
  /** The instances that are trained on; null: all. */
  readonly training: Uint32Array | null;
  readonly custom: CustomObjective | null;

  constructor(labels: Float64Array, { columns = noColumns, validation = null, custom = null }: RowOptions = {}) {
    this.labels = labels;
    this.columns = columns;
    this.validation = validation;
    this.training = validation && otherRows(validation, labels.length);
    this.custom = custom;
  }

  get count(): number {
    return this.labels.length;
  }

  /** How many are trained on. */
  get trainedCount(): number {
    return (this.training ?? this.labels).length;
  }

  /** Null: every instance counts once. */
  get weights(): Float64Array | null {
    return this.columns.weight ?? null;
  }

  /** Where each instance's margin starts; undefined: all at the model's own. */
  get baseMargins(): Float64Array | undefined {
    return this.columns.base_margin;
  }

  /** The same instances with different held-out ones. */
  holdingOut(validation: Uint32Array | null): TrainingRows {
    return new TrainingRows(this.labels, { ...this, validation });
  }

  /** The same instances with custom gradients; null: the objective's. */
  withObjective(custom: CustomObjective | null): TrainingRows {
    return new TrainingRows(this.labels, { ...this, custom });
  }

  /** A selection of instances, all of them trained on; null: all. */
  select(rows: Uint32Array | null): TrainingRows {
    const labels = rows === null ? this.labels : selectFloat64(this.labels, rows);
    return new TrainingRows(labels, { columns: columnsOfRows(this.columns, rows), custom: this.custom });
  }
}
