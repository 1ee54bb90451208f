/**
 * What travels over HTTP, as schemas: requests are parsed with them, and the OpenAPI document is made from them.
 * Messages of errors name the field, never a value.
 */
import * as z from "zod";
import { errorCodes, TandemError } from "../../base/error.ts";
import type { CategoryNames } from "../../gbdt/split/split-test.ts";
import { outputKinds, type Wanted } from "../wanted.ts";

export const idCharsMax = 1024;

const id = z
  .string("must be text")
  .min(1, "must not be empty")
  .max(idCharsMax, `must have at most ${idCharsMax} characters`)
  .meta({ description: "the id by which the parties know a person" });
const value = z.union([z.number(), z.null()], "must be a number, or null for a missing value");
const category = z.union([z.string(), z.null()], "must be a category as text, or null for a missing value");

/** A row with the values of the active party's own features given in the request. */
function row(features: readonly string[], categoryNames: readonly CategoryNames[]) {
  return z.strictObject({
    id,
    features: z
      .looseObject(
        Object.fromEntries(features.map((name, i) => [name, categoryNames[i] === null ? value : category])),
        "must have a field for each feature",
      )
      .meta({
        description: "values of the active party's own features; null is a missing value; other fields are ignored",
      }),
  });
}

const round = z.int("must be a whole number").min(0, "must be 0 or more").max(1e9, "must be a round of the model");
/** The outputs asked for. */
const asked = {
  output: z
    .enum(outputKinds, `must be one of ${outputKinds.join(", ")}`)
    .optional()
    .meta({
      description:
        "prediction unless something else is named; leaf: node ids, one per tree; contributions: SHAP values, in " +
        "party_contributions with each passive party as one feature; own_contributions: own features, and all others " +
        "together",
    }),
  iteration_range: z
    .tuple([round, round], "must be two numbers of rounds")
    .optional()
    .meta({ description: "use these rounds only, from the first up to the second; 0 as the second: to the last" }),
};

/** What a request asks for. */
export function wantedBy({
  output = "prediction",
  iteration_range: [begin, end] = [0, 0],
}: z.output<z.ZodObject<typeof asked>>): Wanted {
  return { kind: output, iterations: { begin, end } };
}

/**
 * @param features the own features that the model asks about
 * @param categoryNames of each of them the categories, null of numbers
 */
export function predictRequest(features: readonly string[], categoryNames: readonly CategoryNames[], rowsMax: number) {
  const most = `must have at most ${rowsMax} entries`;
  const rows = z.strictObject({
    rows: z.array(row(features, categoryNames), "must be a list").min(1, "must not be empty").max(rowsMax, most),
    ...asked,
  });
  const ids = z.strictObject({
    ids: z.array(id, "must be a list").min(1, "must not be empty").max(rowsMax, most),
    ...asked,
  });
  return { rows, ids };
}

const problem = z.strictObject({
  code: z.enum(Object.keys(errorCodes) as [keyof typeof errorCodes]),
  message: z.string(),
});
const contributions = z.record(z.string(), z.number()).meta({
  description: "what each own feature adds to the margin, each passive party's features together, and the bias",
});
export const errorResponse = z.strictObject({ error: problem });
export const predictResponse = z.strictObject({
  model: z.string().meta({ description: "the id of the model, the same at all parties" }),
  classes: z.array(z.string()).optional().meta({
    description: "names of the classes, in the order of a prediction's numbers; of one number: what 0 and 1 are",
  }),
  predictions: z
    .array(
      z.union([
        z.strictObject({
          id: z.string(),
          prediction: z.union([z.number(), z.array(z.number())]),
          class: z.string().optional().meta({ description: "the likeliest class, where classes have names" }),
        }),
        z.strictObject({ id: z.string(), contributions: z.union([contributions, z.array(contributions)]) }),
        z.strictObject({ id: z.string(), error: problem }),
      ]),
    )
    .meta({ description: "one entry per person, in the order of the request" }),
});
export const healthResponse = z.strictObject({ status: z.literal("alive") });
export const readyResponse = z.strictObject({
  status: z.enum(["ready", "not ready"]),
  parties: z.array(z.strictObject({ party: z.string(), ready: z.boolean(), error: problem.optional() })),
});

export const modelsResponse = z.strictObject({
  models: z.array(
    z.strictObject({
      name: z.string().meta({ description: "the name in paths and metrics" }),
      job: z.string().meta({ description: "the job that trained the model that has the name now" }),
      model: z.string().meta({ description: "the model's id" }),
      paths: z.array(z.string()),
    }),
  ),
});

export type ModelEntry = z.output<typeof modelsResponse>["models"][number];
export type PredictResponse = z.output<typeof predictResponse>;
export type ReadyResponse = z.output<typeof readyResponse>;
export type Problem = z.output<typeof problem>;

/** The first mistake, with its field. */
export function requestMistake(error: z.ZodError): TandemError {
  const [issue] = error.issues;
  const path = issue.path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "");
  const what = issue.code === "unrecognized_keys" ? `has an unknown field '${issue.keys[0]}'` : issue.message;
  return new TandemError("USAGE", `${path === "" ? "the request" : path}: ${what}`);
}
