/**
 * Fields of a config for tables that a database gives, and what must hold of them together. A password never stands in
 * a config: configs are copied, mailed and kept under version control.
 */
import { z } from "zod";
import { TandemError } from "../../base/error.ts";
import { parseAddress } from "../../data/query/postgres-address.ts";
import type { ConfigFile } from "./config-file.ts";

const text = z.string("must be text; put it in quotes").min(1, "must not be empty");
const seconds = "must be a whole number from 1 to 604800";

export const postgresFields = z.strictObject(
  {
    url: text.optional(),
    url_env: text.optional(),
    url_file: text.optional(),
    insecure_url_file: z.boolean("must be true or false").default(false),
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

export type PostgresConfig = z.output<typeof postgresFields>;

const elsewhere = "Put the connection string into a file of its own (url_file) or into the environment (url_env)";

/** Before the fields are looked at one by one. @throws TandemError FILE_FORMAT naming the line */
export function refusePasswords(file: ConfigFile): void {
  for (const name of ["password", "user", "host"]) {
    const field = ["data", "postgres", name];
    if (file.hasIn(field)) throw file.error(field, `field 'data.postgres.${name}' is not for a config. ${elsewhere}`);
  }
}

/** @throws TandemError FILE_FORMAT naming file, line and field */
export function checkPostgres(file: ConfigFile, postgres: PostgresConfig): void {
  const wrong = (name: string, what: string): TandemError => file.error(["data", "postgres", name], what);
  const given = (["url", "url_env", "url_file"] as const).filter((name) => postgres[name] !== undefined);
  if (given.length !== 1)
    throw wrong(given[1] ?? "url_file", "one of data.postgres.url_file, url_env and url must be given");
  if (postgres.url_env !== undefined && !/^[A-Za-z_]\w*$/.test(postgres.url_env))
    throw wrong("url_env", "field 'data.postgres.url_env' must be the name of a variable, and not what it holds");
  if (postgres.url !== undefined) {
    const field = "field 'data.postgres.url'";
    // Also of a string that is none: whatever stands between a colon and an @ may be a password.
    if (/:(?!\/\/)[^@]*@/.test(postgres.url) || /:\/\/[^/]*:.*@/.test(postgres.url))
      throw wrong("url", `${field} holds a password. ${elsewhere}`);
    try {
      parseAddress(field, postgres.url);
    } catch (error) {
      throw error instanceof TandemError ? wrong("url", error.message) : error;
    }
  }
  if ((postgres.certificate === undefined) !== (postgres.key === undefined))
    throw wrong(postgres.key === undefined ? "certificate" : "key", "a certificate and its key go together");
}

/** @param from makes a path of the config absolute */
export function postgresFrom(given: PostgresConfig, from: (path: string) => string): PostgresConfig {
  const path = (name: "url_file" | "authority" | "certificate" | "key"): Partial<PostgresConfig> =>
    given[name] === undefined ? {} : { [name]: from(given[name]) };
  return { ...given, ...path("url_file"), ...path("authority"), ...path("certificate"), ...path("key") };
}
