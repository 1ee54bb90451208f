/** `crew:` in a party's config, and worker.yaml: where the engine is, and who a party or a worker is to it. */
import { dirname, join, resolve } from "node:path";
import * as z from "zod";
import { crewSyntax, crewSyntaxWords } from "../../crew/crew-name.ts";
import { logLevels } from "../../record/log-line.ts";
import { isScheme, schemeNamed } from "../../scheme/registry.ts";
import { listOf, object, oneOf, text, wholeNumber, yesOrNo } from "../../base/parameters/config-fields.ts";
import type { ConfigFile } from "./config-file.ts";
import { openConfig } from "./config-role.ts";

const server = text.regex(
  /^tls:\/\/(?:[^\s/:@[\]]+|\[[0-9a-fA-F:]+\])(?::[0-9]{1,5})?$/,
  "must be tls://host:port; a crew speaks TLS only",
);
const crewName = text.regex(crewSyntax, crewSyntaxWords);
/** Small ones are slow, and good for trying out. */
const blockRows = Array.from({ length: 13 }, (_, i) => 2 ** (8 + i));
const blockRowsWords = `must be auto, or a power of two from ${blockRows[0]} to ${blockRows[blockRows.length - 1]}`;

/** Who we are to the engine, and the key that it must not have. */
const accessFields = {
  servers: listOf(server).min(1, "must name at least one server"),
  tls: object({ certificate: text, key: text, authority: text, insecure_key_file: yesOrNo.default(false) }),
  secret: text,
  /** Where party and workers find the blocks' files. */
  folder: text.optional(),
};

export const crewField = object({
  ...accessFields,
  /** Where its workers fetch the bulk of a round's data; left out: the engine carries it. */
  listen: object({ host: text, port: wholeNumber(0, 65535) }).optional(),
  name: crewName.optional(),
  store: oneOf(["file", "memory"]).default("file"),
  replicas: wholeNumber(1, 5).default(1),
  block_rows: z
    .union([z.literal("auto"), z.number().refine((rows) => blockRows.includes(rows), blockRowsWords)], blockRowsWords)
    .default("auto"),
  lease_seconds: wholeNumber(2, 3600).default(10),
  workers_min: wholeNumber(1, 10_000).default(1),
});

export const workerConfig = object({
  name: crewName,
  ...accessFields,
  threads: wholeNumber(1, 256).optional(),
  log: object({ level: oneOf(logLevels).default("info") }).prefault({}),
});

/** Names and paths are complete. */
export type CrewConfig = Omit<z.output<typeof crewField>, "name" | "folder"> & {
  readonly name: string;
  readonly folder: string;
};
export type WorkerConfig = Omit<z.output<typeof workerConfig>, "folder"> & { readonly folder: string };
/** What a party's and a worker's config have in common. */
export type CrewAccess = Pick<CrewConfig, "name" | "servers" | "tls" | "secret" | "folder">;

/** @param partyName the crew's name where none is given */
export function crewFrom(
  file: ConfigFile,
  given: z.output<typeof crewField>,
  partyName: string,
  from: (path: string) => string,
): CrewConfig {
  const name = given.name ?? partyName;
  if (!crewSyntax.test(name))
    throw file.error(
      ["crew"],
      `field 'crew.name' is missing: this party's name cannot be the crew's, which ${crewSyntaxWords}`,
    );
  return { ...given, ...pathsFrom(given, from), name };
}

/** @throws TandemError FILE_UNREADABLE, or FILE_FORMAT naming file, line and field */
export async function readWorkerConfig(path: string): Promise<WorkerConfig> {
  const config = (await openConfig(path, "worker")).parse(workerConfig);
  const folder = dirname(resolve(path));
  return { ...config, ...pathsFrom(config, (given) => resolve(folder, given)) };
}

function pathsFrom(
  { tls, secret, folder }: Pick<z.output<typeof crewField>, "tls" | "secret" | "folder">,
  from: (path: string) => string,
): Pick<CrewAccess, "tls" | "secret" | "folder"> {
  return {
    tls: { ...tls, certificate: from(tls.certificate), key: from(tls.key), authority: from(tls.authority) },
    secret: from(secret),
    folder: folder === undefined ? join(dirname(from(secret)), "blocks") : from(folder),
  };
}

/** Why an active party with this scheme has no use for workers; null: it has, or the scheme is unknown. */
export function noTasksWords(scheme: string): string | null {
  if (!isScheme(scheme) || schemeNamed(scheme).task !== undefined) return null;
  return `with 'scheme: ${scheme}' an active party has nothing to do that workers could share`;
}
