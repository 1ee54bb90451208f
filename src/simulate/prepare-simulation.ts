/**
 * Prepares a simulation. All checks of the input happen here, before a process starts, so that an error names the
 * user's own file and line.
 */
import { TandemError } from "../base/error.ts";
import { namedColumns } from "../data/row-column.ts";
import type { GradientLayout } from "../codec/layout.ts";
import { unusedParameters } from "../gbdt/parameters/unused-parameters.ts";
import { formText } from "../party/preset-form.ts";
import { codecOfJob, layoutOfJob, withGrid } from "../party/job-grid.ts";
import type { Job } from "../protocol/job.ts";
import type { SchemeChoice } from "../scheme/registry.ts";
import { type PartyTable, selectRows } from "../data/dataset.ts";
import { noConstraints } from "../data/feature-constraints.ts";
import { withClassCount } from "../gbdt/objective/outputs.ts";
import { BoostingMonitor } from "../gbdt/boost/boosting-monitor.ts";
import { BoostingTask } from "../gbdt/boost/boosting-task.ts";
import { roundsBefore } from "../gbdt/boost/warm-start.ts";
import type { Model } from "../gbdt/tree/model.ts";
import { type OnePlaceJob, withValidation } from "./comparison.ts";
import { ownNames, toCellTable } from "./cut-table.ts";
import type { FederationJob, FederationParty } from "./federation.ts";
import { keptModel } from "./kept-model.ts";
import { checkOptions, partiesOf, type SimulateOptions } from "./simulate-options.ts";
import { allRows, readSimulationTables, type SimulationTables } from "./simulation-tables.ts";

/** The user's table, checked and divided among the parties, and the job that runs on it. */
export interface PreparedSimulation extends Required<OnePlaceJob> {
  readonly federation: FederationJob;
  readonly test: readonly PartyTable[];
  readonly layout: GradientLayout;
  /** The layout under another scheme. @throws TandemError if that scheme cannot train the job */
  readonly layoutFor: (choice: SchemeChoice) => GradientLayout;
  /** Bits of a gradient under a scheme, for a number of training rows. @throws TandemError if no bits are left */
  readonly resolutionFor: (choice: SchemeChoice, rows: number) => number;
}

/** @throws TandemError for any error in the input, before a process starts */
export async function prepareSimulation(options: SimulateOptions): Promise<PreparedSimulation> {
  const given = await checkOptions(options);
  const form = formText(given);
  for (const words of [...unusedParameters(given.training), ...(form === null ? [] : [form])])
    options.onEvent({ type: "notice", party: partiesOf(options)[0].name, words });
  const tables = await readSimulationTables(options, given.training);
  const [{ classes }] = tables.whole.parties;
  const start = await startOf(options, tables);
  const job: Job = {
    ...given,
    training: withClassCount(given.training, classes),
    start: start && { model: "", trees: start.trees },
  };
  const { validationFraction } = options;
  const { train } = tables;
  const validation = tables.validation?.parties ?? null;
  return {
    job,
    start,
    ...checkTraining(options.data, { job, train, validation, validationFraction, start }),
    federation: federationJob(options, job, tables),
    train,
    test: tables.tested.parties.map((party) => selectRows(party, tables.rows.test)),
    validation,
    validationFraction,
  };
}

function startOf({ warmStart, keep }: SimulateOptions, { whole }: SimulationTables): Promise<Model | null> {
  if (warmStart === undefined) return Promise.resolve(null);
  return keptModel(
    warmStart,
    keep,
    whole.cuts.map(({ name }) => name),
    whole.parties,
  );
}

/** @throws TandemError if rows, metrics and layout are incompatible, or the start model does not match */
function checkTraining(
  path: string,
  given: Omit<Required<OnePlaceJob>, "test">,
): Pick<PreparedSimulation, "layout" | "layoutFor" | "resolutionFor"> {
  const { job, start } = given;
  const { training } = job;
  const { rows } = withValidation(given);
  const task = inFile(path, () => new BoostingTask(training, rows));
  // Refuses early stopping without a validation set, and metrics that do not apply to the objective.
  void new BoostingMonitor(training, task);
  roundsBefore(start, task, training);
  // Refuses a layout that could overflow.
  const gradients = task.gradients(task.startMargins());
  const layoutFor = (choice: SchemeChoice): GradientLayout =>
    layoutOfJob(withGrid({ ...job, ...choice }, rows.trainedCount), gradients);
  const resolutionFor = (choice: SchemeChoice, count: number): number =>
    codecOfJob({ ...job, ...choice }, count - (rows.validation?.length ?? 0)).resolution_bits;
  return { layout: layoutFor(job), layoutFor, resolutionFor };
}

/** Names the file in errors about all training rows, which have no line. */
function inFile<T>(path: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof TandemError) || error.code === "USAGE") throw error;
    throw new TandemError(error.code, `${path}, in the rows that are trained on: ${error.message}`, { cause: error });
  }
}

function federationJob(
  options: SimulateOptions,
  job: Job,
  { whole, tested, rows, validation }: SimulationTables,
): FederationJob {
  const own = ownNames(whole.table, options.label);
  const party = (i: number): FederationParty => {
    const cut = whole.cuts[i];
    return {
      name: cut.name,
      features: cut.features,
      constraints: whole.parties[i].constraints ?? noConstraints,
      categorical: cut.features.filter((name) => Object.hasOwn(whole.parties[i].categories ?? {}, name)),
      train: toCellTable(whole.table, cut, whole.parties[i], rows.train, own),
      test:
        rows.test.length === 0 ? null : toCellTable(tested.table, tested.cuts[i], tested.parties[i], rows.test, own),
      validation:
        validation &&
        toCellTable(validation.table, validation.cuts[i], validation.parties[i], allRows(validation.table), own),
    };
  };
  return {
    job,
    active: {
      ...party(0),
      label: own.label,
      positive: undefined,
      classes: whole.parties[0].classes ?? undefined,
      rowColumns: Object.fromEntries(
        namedColumns(options.rowColumns ?? {}).map(([name]) => [name, own.rowColumn(name)]),
      ),
    },
    passives: whole.cuts.slice(1).map((_, i) => party(i + 1)),
    id: own.id,
    missing: options.missing,
    predictions: options.predictions,
    keep: options.keep,
    validationFraction: options.validationFraction,
    warmStart: options.warmStart,
    onEvent: options.onEvent,
  };
}
