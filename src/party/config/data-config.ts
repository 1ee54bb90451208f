/** Where a party's rows are, and what their columns are. */
import * as z from "zod";
import { forEachColumn } from "../../base/rows/row-columns.ts";
import { listOf, object, oneOf, text, yesOrNo } from "../../base/parameters/config-fields.ts";
import { givenSources, sourceNamed, sourceNames, sourceSchemas } from "../../data/sources/registry.ts";
import { tableFormats } from "../../data/table-reading.ts";
import { groupCountMax } from "../../gbdt/split/interactions.ts";
import { groupSyntax } from "../../protocol/interaction-groups.ts";
import { normalisationNames } from "../../psi/normalise.ts";
import type { ConfigFile } from "./config-file.ts";

/** "all" leaves out the id and the label only. */
const features = z.union(
  [listOf(text), z.literal("all"), object({ all_but: listOf(text) })],
  "must be a list of columns, 'all', or 'all_but:' with a list of columns",
);

export const dataFields = {
  ...sourceSchemas,
  test_path: text.optional(),
  validation_path: text.optional(),
  /** Of all these files; left out: by their names and first lines. */
  format: oneOf(tableFormats).optional(),
  /** CSV: whether the first line has names of columns. */
  header: yesOrNo.optional(),
  id: text,
  features,
  missing: listOf(text).default([]),
  categorical: listOf(text).default([]),
  monotone_constraints: z
    .record(text, z.union([z.literal(1), z.literal(-1), z.literal(0)], "must be 1, -1 or 0"))
    .default({}),
  interaction_constraints: z
    .record(
      z.string().regex(groupSyntax, "must be a name of up to 32 letters, digits, dashes and underscores"),
      listOf(text),
    )
    .refine((groups) => Object.keys(groups).length <= groupCountMax, `must be at most ${groupCountMax} groups`)
    .default({}),
  normalise: listOf(oneOf(normalisationNames as [string, ...string[]] & typeof normalisationNames)).default([]),
  duplicates: oneOf(["refuse", "first", "last"]).default("refuse"),
};

/** Per-row columns of the active party, by name or position. */
export const rowColumnFields = forEachColumn(() => text.optional());

const fields = object(dataFields);
export type DataConfig = z.output<typeof fields>;

/** The fields that name files, with absolute paths. */
export function sourceFrom(
  data: DataConfig,
  insecureFiles: boolean,
  from: (path: string) => string,
): Partial<DataConfig> {
  const { test_path: testPath, validation_path: validationPath } = data;
  const sources = givenSources(data).map((name) => [
    name,
    sourceNamed(name).resolve(data[name], { from, insecureFiles }),
  ]);
  return {
    ...(Object.fromEntries(sources) as Partial<DataConfig>),
    ...(testPath === undefined ? {} : { test_path: from(testPath) }),
    ...(validationPath === undefined ? {} : { validation_path: from(validationPath) }),
  };
}

/** Before the fields are looked at one by one. @throws TandemError FILE_FORMAT naming the line */
export function refuseSourceFields(file: ConfigFile): void {
  for (const name of sourceNames) {
    for (const [field, why] of Object.entries(sourceNamed(name).refused ?? {})) {
      const path = ["data", name, field];
      if (file.hasIn(path)) throw file.error(path, `field '${path.join(".")}' ${why}`);
    }
  }
}

/** Exactly one is named. @throws TandemError FILE_FORMAT naming the line */
export function checkSource(file: ConfigFile, data: DataConfig): void {
  const [first, second] = givenSources(data);
  const [usual, ...others] = sourceNames.map((name) => `'data.${name}'`);
  if (first === undefined)
    throw file.error(["data", sourceNames[0]], `field ${usual} is missing (or ${others.join(", ")})`);
  if (second !== undefined)
    throw file.error(["data", second], `fields 'data.${first}' and 'data.${second}' exclude each other`);
}
