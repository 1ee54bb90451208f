/**
 * Fields of a config for tables that a database gives, and what must hold of them together. A password never stands in
 * a config: configs are copied, mailed and kept under version control.
 */
import { z } from "zod";
import type { ConfigFile } from "./config-file.ts";

const text = z.string("must be text; put it in quotes").min(1, "must not be empty");
const seconds = "must be a whole number from 1 to 604800";

export const postgresFields = z.strictObject(
  {
    url_file: text,
    query: text,
    tls: z.enum(["verify", "off"], "must be one of verify, off").default("verify"),
    authority: text.optional(),
    certificate: text.optional(),
    key: text.optional(),
    timeout_seconds: z.int(seconds).min(1, seconds).max(604_800, seconds).default(3600),
  },
  { error: (issue) => (issue.code === "invalid_type" ? "must have fields of its own, one per line" : undefined) },
);

/** Its files are relative to the config, whose folder is not known yet. */
export const sqlQuery = text.transform((query) => ({ query, folder: "" }));

type GivenPostgres = z.output<typeof postgresFields>;
export type PostgresConfig = GivenPostgres & {
  /** Its secret files may be readable by other users of this machine. */
  readonly insecureFiles?: boolean;
};

const elsewhere = "Put the connection string into a file of its own (url_file)";

/** Before the fields are looked at one by one. @throws TandemError FILE_FORMAT naming the line */
export function refusePasswords(file: ConfigFile): void {
  for (const name of ["password", "user", "host"]) {
    const field = ["data", "postgres", name];
    if (file.hasIn(field)) throw file.error(field, `field 'data.postgres.${name}' is not for a config. ${elsewhere}`);
  }
}

/** @throws TandemError FILE_FORMAT naming file, line and field */
export function checkPostgres(file: ConfigFile, { certificate, key }: GivenPostgres): void {
  if ((certificate === undefined) === (key === undefined)) return;
  const name = key === undefined ? "certificate" : "key";
  throw file.error(["data", "postgres", name], "a certificate and its key go together");
}

/** @param from makes a path of the config absolute */
export function postgresFrom(
  given: GivenPostgres,
  insecureFiles: boolean,
  from: (path: string) => string,
): PostgresConfig {
  const path = (name: "authority" | "certificate" | "key"): Partial<PostgresConfig> =>
    given[name] === undefined ? {} : { [name]: from(given[name]) };
  return {
    ...given,
    url_file: from(given.url_file),
    ...path("authority"),
    ...path("certificate"),
    ...path("key"),
    insecureFiles,
  };
}
