/** A PostgreSQL server. A config holds no password: configs are copied, mailed and kept under version control. */
import type { z } from "zod";
import { withPackages } from "../../base/optional-package.ts";
import { object, oneOf, text, wholeNumber } from "../../base/parameters/config-fields.ts";
import { dataSource } from "./data-source.ts";

const fields = object({
  url_file: text,
  query: text,
  tls: oneOf(["verify", "off"]).default("verify"),
  authority: text.optional(),
  certificate: text.optional(),
  key: text.optional(),
  timeout_seconds: wholeNumber(1, 604_800).default(3600),
}).superRefine(({ certificate, key }, { addIssue }) => {
  if ((certificate === undefined) === (key === undefined)) return;
  const path = [key === undefined ? "certificate" : "key"];
  addIssue({ code: "custom", path, message: "a certificate and its key go together" });
});

const notHere = "is not for a config. Put the connection string into a file of its own (url_file)";
const needed = { feature: "data.postgres", packages: ["pg", "pg-cursor"] };

export const postgres = dataSource({
  about: "what a PostgreSQL server answers to a query",
  schema: fields,
  refused: { password: notHere, user: notHere, host: notHere },
  resolve: (given, { from, insecureFiles }) => {
    const path = (name: "authority" | "certificate" | "key"): Partial<z.output<typeof fields>> =>
      given[name] === undefined ? {} : { [name]: from(given[name]) };
    const paths = { ...path("authority"), ...path("certificate"), ...path("key") };
    return { ...given, url_file: from(given.url_file), ...paths, insecureFiles };
  },
  stream: async (source, sink) => {
    const { streamPostgres } = await withPackages(needed, () => import("../query/postgres-table.ts"));
    return streamPostgres(source, sink);
  },
});
