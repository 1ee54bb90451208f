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

/** The fields that are paths, as far as they are given, made absolute. */
export function absolutePaths<N extends string>(
  given: { readonly [name in N]?: string | undefined },
  names: readonly N[],
  from: (path: string) => string,
): Partial<Record<N, string>> {
  const paths: Partial<Record<N, string>> = {};
  for (const name of names) {
    const path = given[name];
    if (path !== undefined) paths[name] = from(path);
  }
  return paths;
}

export const certificateFields = ["authority", "certificate", "key"] as const;

/** With absolute paths. */
export function resolveServer<
  S extends Identity & { readonly url_file: string; readonly authority?: string | undefined },
>(given: S, { from, insecureFiles }: ConfigPlace): S & { readonly insecureFiles: boolean } {
  return { ...given, url_file: from(given.url_file), ...absolutePaths(given, certificateFields, from), insecureFiles };
}
