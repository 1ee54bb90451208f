/** The sources of tables, by the field of `data` that names one. */
import type { z } from "zod";
import type { DataSource } from "./data-source.ts";
import { duckdb } from "./duckdb.ts";
import { files } from "./files.ts";
import { mysql } from "./mysql.ts";
import { postgres } from "./postgres.ts";
import { program } from "./program.ts";

export const dataSources = { path: files, command: program, postgres, mysql, sql: duckdb };

type Sources = typeof dataSources;
export type SourceName = keyof Sources;
type SourceConfig<N extends SourceName> = z.output<Sources[N]["schema"]>;

/** One source with its config: `{ path }`, `{ command }`, ... */
export type TableSource = { [N in SourceName]: { readonly [F in N]: SourceConfig<N> } }[SourceName];
/** Of a config, which names one of them. */
export type SourceFields = { readonly [N in SourceName]?: SourceConfig<N> | undefined };

export const sourceNames = Object.keys(dataSources) as readonly SourceName[];

/** Of a config: each is optional, and one must be given. */
export const sourceSchemas = Object.fromEntries(
  sourceNames.map((name) => [name, dataSources[name].schema.optional()]),
) as unknown as {
  [N in SourceName]: z.ZodOptional<Sources[N]["schema"]>;
};

/** A source by its name, for any config that its own schema has made. */
export function sourceNamed(name: SourceName): DataSource<z.ZodType> {
  return dataSources[name] as DataSource<z.ZodType>;
}

/** The names of those that are given. */
export function givenSources(fields: SourceFields): readonly SourceName[] {
  return sourceNames.filter((name) => fields[name] !== undefined);
}

/** The one that a checked config names. */
export function sourceIn(fields: SourceFields): TableSource {
  const [name] = givenSources(fields);
  return { [name]: fields[name] } as TableSource;
}
