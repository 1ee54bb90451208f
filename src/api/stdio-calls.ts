/** What can be called over standard input and output: the library's functions, with files in place of long columns. */
import { writeFile } from "node:fs/promises";
import { cpus, endianness } from "node:os";
import * as z from "zod";
import { TandemError } from "../base/error.ts";
import { programVersion } from "../base/program-version.ts";
import { rowColumnNames } from "../base/rows/row-columns.ts";
import { createCertificate } from "./certificate.ts";
import { type FederatedModel, openModel } from "./federated-model.ts";
import { type Model, readModel } from "./model.ts";
import type { ActiveConfig, PassiveConfig } from "./parameters.ts";
import { party, type PartyServer } from "./party.ts";
import type { Predictions, Scores } from "./predictions.ts";
import type { OnProgress } from "./progress.ts";
import { audit, simulate } from "./simulate.ts";
import { train } from "./train.ts";

export interface CallContext {
  readonly signal: AbortSignal;
  readonly onProgress: OnProgress;
}

type Call = (parameters: unknown, context: CallContext) => Promise<unknown>;

/** What a call has opened, until it is closed. */
class Handles<T> {
  readonly #kind: string;
  readonly #open = new Map<number, T>();
  #next = 1;

  constructor(kind: string) {
    this.#kind = kind;
  }

  add(value: T): number {
    this.#open.set(this.#next, value);
    return this.#next++;
  }

  get(handle: number): T {
    const value = this.#open.get(handle);
    if (value === undefined) throw new TandemError("USAGE", `${this.#kind} ${handle} is not open`);
    return value;
  }

  remove(handle: number): T {
    const value = this.get(handle);
    this.#open.delete(handle);
    return value;
  }
}

const models = new Handles<Model>("model");
const federated = new Handles<FederatedModel>("model");
const servers = new Handles<PartyServer>("party");

const names = z.array(z.string());
const rowColumns = z.partialRecord(z.enum(rowColumnNames), z.string());
const range = z.tuple([z.int().nonnegative(), z.int().nonnegative()]);
const settings = z.record(z.string(), z.unknown());
const split = {
  label: z.string(),
  active: names,
  passives: z.array(names),
  id: z.string().exactOptional(),
  positive: z.string().exactOptional(),
  classes: names.exactOptional(),
  columns: rowColumns.exactOptional(),
  testFraction: z.number().exactOptional(),
  test: z.string().exactOptional(),
  validationFraction: z.number().exactOptional(),
  validation: z.string().exactOptional(),
  missing: names.exactOptional(),
  categorical: names.exactOptional(),
  monotone: z.record(z.string(), z.union([z.literal(-1), z.literal(0), z.literal(1)])).exactOptional(),
  interactions: z.record(z.string(), names).exactOptional(),
  training: settings.exactOptional(),
  privacy: settings.exactOptional(),
  scheme: z.string().exactOptional(),
  keyBits: z.int().exactOptional(),
  insecureKeyBits: z.int().exactOptional(),
};
const handle = z.int();
/** A file for numbers: doubles of this machine's byte order, row by row. */
const out = z.string();
/** The path of a file, or its fields; its reader checks them. */
function configOf<T>() {
  return z.custom<string | T>((value) => typeof value === "string" || settings.safeParse(value).success, {
    message: "a config is a path or an object",
  });
}
const activeConfig = configOf<ActiveConfig>();
const passiveConfig = configOf<PassiveConfig>();

/** A call whose parameters are checked before it is made. */
function call<S extends z.ZodType>(
  schema: S,
  run: (parameters: z.output<S>, context: CallContext) => Promise<unknown>,
): Call {
  return (parameters, context) => {
    const read = schema.safeParse(parameters);
    if (read.success) return run(read.data, context);
    const { path, message } = read.error.issues[0];
    throw new TandemError("USAGE", `${path.join(".")}: ${message}`);
  };
}

async function written(path: string, { ids, names: columns, values }: Scores): Promise<object> {
  await writeNumbers(path, values);
  return { ids, names: columns };
}

async function labelled(path: string, predictions: Predictions): Promise<object> {
  return { ...(await written(path, predictions)), labels: predictions.labels };
}

async function writeNumbers(path: string, values: Float64Array): Promise<void> {
  await writeFile(path, new Uint8Array(values.buffer, values.byteOffset, values.byteLength), { mode: 0o600 });
}

function facts(model: FederatedModel): object {
  const { id, job, objective, treeCount, passives } = model;
  return { handle: federated.add(model), id, job, objective, treeCount, passives };
}

export const calls: Readonly<Record<string, Call>> = {
  version: call(z.object({}), () =>
    Promise.resolve({ version: programVersion(), byteOrder: endianness(), cores: cpus().length }),
  ),

  simulate: call(
    z.strictObject({
      table: z.string(),
      out,
      options: z.strictObject({ ...split, check: z.boolean().exactOptional() }),
    }),
    async ({ table, options, out: path }, context) => {
      const { model, predictions, ...rest } = await simulate(table, { ...options, ...context });
      return { ...rest, model: model.toJson(), predictions: predictions && (await labelled(path, predictions)) };
    },
  ),

  audit: call(
    z.strictObject({
      table: z.string(),
      options: z.strictObject({ ...split, seconds: z.number().exactOptional(), whatIf: z.boolean().exactOptional() }),
    }),
    ({ table, options }, context) => audit(table, { ...options, ...context }),
  ),

  readModel: call(z.strictObject({ text: z.string() }), async ({ text }) => {
    const model = readModel(text);
    const { objective, treeCount, features } = model;
    return { handle: models.add(model), objective, treeCount, features, importance: model.importance() };
  }),

  predict: call(
    z.strictObject({
      handle,
      table: z.string(),
      out,
      options: z.strictObject({
        output: z.enum(["prediction", "margin", "leaf", "contributions"]).exactOptional(),
        iterations: range.exactOptional(),
        base_margin: z.string().exactOptional(),
        missing: names.exactOptional(),
      }),
    }),
    async ({ handle: model, table, options, out: path }) => {
      const { values, rowCount } = await models.get(model).predictRows(table, options);
      await writeNumbers(path, values);
      return { rows: rowCount };
    },
  ),

  toXgboost: call(z.strictObject({ handle }), async ({ handle: model }) => ({ text: models.get(model).toXgboost() })),

  closeModel: call(z.strictObject({ handle }), async ({ handle: model }) => void models.remove(model)),

  train: call(z.strictObject({ config: activeConfig, out }), async ({ config: given, out: path }, context) => {
    const { model, predictions, ...rest } = await train(given, context);
    return { ...rest, model: facts(model), predictions: predictions && (await labelled(path, predictions)) };
  }),

  openModel: call(z.strictObject({ config: activeConfig, name: z.string() }), async ({ config: given, name }) =>
    facts(await openModel(given, name)),
  ),

  score: call(
    z.strictObject({
      handle,
      people: z.union([z.string(), names]),
      out,
      options: z.strictObject({
        output: z
          .enum(["prediction", "margin", "leaf", "contributions", "party_contributions", "own_contributions"])
          .exactOptional(),
        iterations: range.exactOptional(),
        unknown: z.enum(["refuse", "skip", "missing"]).exactOptional(),
      }),
    }),
    async ({ handle: model, people, options, out: path }, { signal }) => {
      const scores = await federated.get(model).score(people, { ...options, signal });
      return { ...(await written(path, scores)), unknown: Object.fromEntries(scores.unknown) };
    },
  ),

  closeFederatedModel: call(z.strictObject({ handle }), async ({ handle: model }) => federated.remove(model).close()),

  party: call(z.strictObject({ config: passiveConfig }), async ({ config: given }, { onProgress, signal }) => {
    const server = await party(given).listen({ onProgress, signal });
    return { handle: servers.add(server), port: server.port };
  }),

  /** Answers when the party has ended. */
  partyClosed: call(z.strictObject({ handle }), ({ handle: server }) => servers.get(server).closed),

  closeParty: call(z.strictObject({ handle }), ({ handle: server }) => servers.remove(server).close()),

  createCertificate: call(z.strictObject({ name: z.string(), folder: z.string() }), ({ name, folder }) =>
    createCertificate(name, folder),
  ),
};
