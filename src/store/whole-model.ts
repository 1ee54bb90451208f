/** A whole model as text: of a simulation or of centralised training, where one party has all rules. */
import * as z from "zod";
import { TandemError } from "../base/error.ts";
import { exactJson } from "../base/text/exact-json.ts";
import type { Model } from "../gbdt/tree/model.ts";
import { modelTermsSchema, treeSchemaWith, wholeRuleSchema } from "./share-files.ts";
import { storedJson } from "./stored-json.ts";

/** A party's features, in the order in which splits count them. */
export interface PartyFeatures {
  readonly name: string;
  readonly features: readonly string[];
}

/** A model, and whose features it splits on. */
export interface WholeModel {
  readonly model: Model;
  readonly parties: readonly PartyFeatures[];
}

const format = "tandem-model/1";

const wholeModel = z
  .strictObject({
    format: z.literal(format),
    parties: z.array(z.strictObject({ name: z.string(), features: z.array(z.string()) })).nonempty(),
    ...modelTermsSchema,
    classes: z.array(z.string()).optional(),
    trees: z.array(treeSchemaWith(wholeRuleSchema)),
  })
  .refine(
    ({ parties, trees }) =>
      trees
        .flat()
        .every(
          (node) =>
            node.kind === "leaf" || parties[node.rule.owner]?.features[node.rule.feature] === node.rule.featureName,
        ),
    { message: "a split is on a feature that no party has" },
  )
  .refine(
    ({ outputCount = 1, trees }) =>
      trees.flat().every((node) => node.kind === "split" || (node.weights?.length ?? outputCount) === outputCount),
    { message: "the number of weights of a leaf differs from the number of outputs" },
  )
  .refine(({ treeWeights, trees }) => treeWeights === undefined || treeWeights.length === trees.length, {
    message: "the number of tree weights differs from the number of trees",
  });

/** Of the parties only names and features are written: a simulated party also holds its table. */
export function wholeModelText({ model, parties }: WholeModel): string {
  return storedJson({ format, parties: parties.map(({ name, features }) => ({ name, features })), ...model });
}

/** @throws TandemError FILE_FORMAT if the text is not that of a whole model */
export function readWholeModel(text: string): WholeModel {
  const content = exactJson(text);
  if (content === undefined) throw new TandemError("FILE_FORMAT", "the model is not JSON");
  const read = wholeModel.safeParse(content);
  if (!read.success) {
    const { path, message } = read.error.issues[0];
    throw new TandemError("FILE_FORMAT", `the model's ${path.join(".") || "text"}: ${message}`);
  }
  const { format: _, parties, ...model } = read.data;
  return { model, parties };
}
