/** A MySQL or MariaDB server. */
import { withPackages } from "../../base/optional-package.ts";
import { object, oneOf } from "../../base/parameters/config-fields.ts";
import { dataSource } from "./data-source.ts";
import {
  checkIdentity,
  notHere,
  refusedServerFields,
  resolveServer,
  serverFields,
  tableSeconds,
} from "./server-fields.ts";

const fields = object({
  ...serverFields,
  tls: oneOf(["verify", "insecure_off"]).default("verify"),
  timeout_seconds: tableSeconds,
}).superRefine(checkIdentity);

const needed = { feature: "data.mysql", packages: ["mysql2"] };

export const mysql = dataSource({
  about: "what a MySQL or MariaDB server answers to a query",
  schema: fields,
  refused: { ...refusedServerFields, url: notHere },
  resolve: resolveServer,
  stream: async (source, sink) => {
    const { streamMysql } = await withPackages(needed, () => import("../query/mysql-table.ts"));
    return streamMysql(source, sink);
  },
});
