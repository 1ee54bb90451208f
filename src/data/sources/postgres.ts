/** A PostgreSQL server. */
import { withPackages } from "../../base/optional-package.ts";
import { object, oneOf } from "../../base/parameters/config-fields.ts";
import { dataSource } from "./data-source.ts";
import { checkIdentity, refusedServerFields, resolveServer, serverFields, tableSeconds } from "./server-fields.ts";

const fields = object({
  ...serverFields,
  tls: oneOf(["verify", "off"]).default("verify"),
  timeout_seconds: tableSeconds,
}).superRefine(checkIdentity);

const needed = { feature: "data.postgres", packages: ["pg", "pg-cursor"] };

export const postgres = dataSource({
  about: "what a PostgreSQL server answers to a query",
  schema: fields,
  refused: refusedServerFields,
  resolve: resolveServer,
  stream: async (source, sink) => {
    const { streamPostgres } = await withPackages(needed, () => import("../query/postgres-table.ts"));
    return streamPostgres(source, sink);
  },
});
