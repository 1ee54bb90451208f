/**
 * The fields of a config that name a database server. A config holds no password: configs are copied, mailed and kept
 * under version control.
 */
import type { z } from "zod";
import { text, wholeNumber } from "../../base/parameters/config-fields.ts";
import type { ConfigPlace } from "./data-source.ts";

export const serverFields = {
  url_file: text,
  query: text,
  authority: text.optional(),
  certificate: text.optional(),
  key: text.optional(),
};

/** A large table's query may take an hour. */
export const tableSeconds = wholeNumber(1, 604_800).default(3600);

interface Identity {
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

/** For superRefine: half an identity is a mistake. */
export function checkIdentity({ certificate, key }: Identity, { addIssue }: z.RefinementCtx): void {
  if ((certificate === undefined) === (key === undefined)) return;
  const path = [key === undefined ? "certificate" : "key"];
  addIssue({ code: "custom", path, message: "a certificate and its key go together" });
}

export const notHere = "is not for a config. Put the connection string into a file of its own (url_file)";
export const refusedServerFields = { password: notHere, user: notHere, host: notHere };

/** With absolute paths. */
export function resolveServer<
  S extends Identity & { readonly url_file: string; readonly authority?: string | undefined },
>(given: S, { from, insecureFiles }: ConfigPlace): S & { readonly insecureFiles: boolean } {
  const path = (name: "authority" | "certificate" | "key"): Partial<Record<typeof name, string>> =>
    given[name] === undefined ? {} : { [name]: from(given[name]) };
  const paths = { ...path("authority"), ...path("certificate"), ...path("key") };
  return { ...given, url_file: from(given.url_file), ...paths, insecureFiles };
}
