/**
 * A simulation made ready: everything that can be wrong with the input is found here, before a process starts, so that
 * an error names the user's own file and line.
 */
import { TandemError } from "../base/error.ts";
import { namedColumns } from "../data/row-column.ts";
import type { GradientLayout } from "../codec/layout.ts";
import { unusedParameters } from "../gbdt/parameters/unused-parameters.ts";
import { codecOfJob, layoutOfJob } from "../party/job-grid.ts";
import type { SchemeChoice } from "../scheme/registry.ts";
import { type PartyTable, selectRows } from "../data/dataset.ts";
import { withClassCount } from "../gbdt/objective/outputs.ts";
import { BoostingMonitor } from "../gbdt/boost/boosting-monitor.ts";
import { BoostingTask } from "../gbdt/boost/boosting-task.ts";
import { roundsBefore } from "../gbdt/boost/warm-start.ts";
import type { Model } from "../gbdt/tree/model.ts";
import { withValidation } from "./comparison.ts";
import { constraintsOf, ownNames, textOf } from "./cut-table.ts";
import type { FederationJob, FederationParty } from "./federation.ts";
import { interactionsOf } from "./interactions.ts";
import { keptModel } from "./kept-model.ts";
import { checkOptions, type SimulateOptions, type SimulationParameters } from "./simulate-options.ts";
import { allRows, readSimulationTables, type SimulationTables } from "./simulation-tables.ts";

/** The user's table, checked and cut, and the job that runs on it. */
export interface PreparedSimulation extends SimulationParameters {
  readonly job: FederationJob;
  /** Parsed training tables; index 0 is the active party. */
  readonly train: readonly PartyTable[];
  readonly test: readonly PartyTable[];
  /** Of a validation file; null: there is none. */
  readonly validation: readonly PartyTable[] | null;
  readonly layout: GradientLayout;
  /** The layout under another scheme. @throws TandemError where that cannot train such a job */
  readonly layoutFor: (choice: SchemeChoice) => GradientLayout;
  /** Bits of a gradient under a scheme, if so many rows were trained on. @throws TandemError where none are left */
  readonly resolutionFor: (choice: SchemeChoice, rows: number) => number;
  /** The model that training goes on from; null: none. */
  readonly start: Model | null;
}

/** @throws TandemError for everything that is wrong with the input, before anything runs */
export async function prepareSimulation(options: SimulateOptions): Promise<PreparedSimulation> {
  const given = await checkOptions(options);
  for (const words of unusedParameters(given.training)) options.onEvent({ type: "notice", party: "active", words });
  const tables = await readSimulationTables(options, given.training);
  const [{ classes }] = tables.whole.parties;
  const parameters = { ...given, training: withClassCount(given.training, classes) };
  const checked = await checkTraining(options, parameters, tables);
  return {
    ...parameters,
    ...checked,
    job: federationJob(options, parameters, tables),
    train: tables.train,
    test: tables.tested.parties.map((party) => selectRows(party, tables.rows.test)),
    validation: tables.validation?.parties ?? null,
  };
}

/** @throws TandemError if these rows, metrics or sums do not go together, or an earlier model does not fit */
async function checkTraining(
  options: SimulateOptions,
  { training, codec, privacy }: SimulationParameters,
  { whole, train, validation: held }: SimulationTables,
): Promise<Pick<PreparedSimulation, "start" | "layout" | "layoutFor" | "resolutionFor">> {
  const { rows } = withValidation({
    train,
    validation: held?.parties ?? null,
    validationFraction: options.validationFraction,
    training,
  });
  const task = inFile(options.data, () => new BoostingTask(training, rows));
  // Refuses early stopping without a validation set, and metrics that do not fit.
  void new BoostingMonitor(training, task);
  const names = whole.cuts.map(({ name }) => name);
  const start =
    options.warmStart === undefined ? null : await keptModel(options.warmStart, options.keep, names, whole.parties);
  roundsBefore(start, task, training);
  // Refuses what could overflow.
  const gradients = task.gradients(task.startMargins());
  const grid = { rows: rows.trainedCount, start };
  const askedOf = ({ scheme, keyBits }: SchemeChoice) => ({ scheme, keyBits, training, codec, defences: privacy });
  const layoutFor = (choice: SchemeChoice): GradientLayout => {
    const asked = askedOf(choice);
    return layoutOfJob({ ...asked, codec: codecOfJob(asked, grid) }, gradients);
  };
  const resolutionFor = (choice: SchemeChoice, count: number): number =>
    codecOfJob(askedOf(choice), { ...grid, rows: count - (rows.validation?.length ?? 0) }).resolution_bits;
  return { start, layout: layoutFor(options), layoutFor, resolutionFor };
}

/** What is wrong with all training rows together has no line, but a file. */
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
  parameters: SimulationParameters,
  { whole, tested, rows, validation }: SimulationTables,
): FederationJob {
  const own = ownNames(whole.table);
  const party = (i: number): FederationParty => {
    const cut = whole.cuts[i];
    return {
      name: cut.name,
      features: cut.features,
      monotone: constraintsOf(cut, options),
      interactions: interactionsOf(options.interactions ?? {}, cut.features, i === 0),
      categorical: cut.features.filter((name) => Object.hasOwn(whole.parties[i].categories ?? {}, name)),
      train: textOf(whole.table, cut, whole.parties[i], rows.train, own),
      test: textOf(tested.table, tested.cuts[i], tested.parties[i], rows.test, own),
      validation:
        validation &&
        textOf(validation.table, validation.cuts[i], validation.parties[i], allRows(validation.table), own),
    };
  };
  return {
    ...parameters,
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
    scheme: options.scheme,
    keyBits: options.keyBits,
    insecureKey: options.insecureKey,
    predictions: options.predictions,
    keep: options.keep,
    validationFraction: options.validationFraction,
    warmStart: options.warmStart,
    onEvent: options.onEvent,
  };
}
