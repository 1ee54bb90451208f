/** A query over CSV and Parquet files, answered by DuckDB. */
import { text } from "../../base/parameters/config-fields.ts";
import { dataSource } from "./data-source.ts";

export const duckdb = dataSource({
  about: "what DuckDB makes of CSV and Parquet files with a query",
  // Its files are relative to the config, whose folder is not known yet.
  schema: text.transform((query) => ({ query, folder: "" })),
  resolve: ({ query }, { from }) => ({ query, folder: from(".") }),
  stream: async (source, sink) => {
    const { streamSql } = await import("../query/duckdb-table.ts");
    return streamSql(source, sink);
  },
});
