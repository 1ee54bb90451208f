/** `scoring:` in a party's config: where its features are when people are scored. */
import * as z from "zod";
import { object, oneOf, text, wholeNumber, yesOrNo } from "../../base/parameters/config-fields.ts";
import {
  absolutePaths,
  certificateFields,
  checkIdentity,
  refusedServerFields,
  resolveServer,
  serverFields,
} from "../../data/sources/server-fields.ts";
import type { ConfigFile } from "./config-file.ts";

const postgres = object({
  ...serverFields,
  query: text.regex(/\$1(?!\d)/, "must select by $1, the array of ids: where id = any($1)"),
  tls: oneOf(["verify", "off"]).default("verify"),
}).superRefine(checkIdentity);

const mysql = object({
  ...serverFields,
  query: text.regex(/^[^?]*\?[^?]*$/, "must have one '?', which stands for the ids: where id in (?)"),
  tls: oneOf(["verify", "insecure_off"]).default("verify"),
}).superRefine(checkIdentity);

const pin = "must be a SHA-256 fingerprint of a certificate, 64 hex digits";
const service = object({
  url: z.url({ protocol: /^https?$/, error: "must be an address, https://host/path" }),
  token_file: text.optional(),
  authority: text.optional(),
  certificate: text.optional(),
  key: text.optional(),
  fingerprint: z
    .string(pin)
    .transform((given) => given.replaceAll(/[:\s]/g, "").toLowerCase())
    .pipe(z.string().regex(/^[0-9a-f]{64}$/, pin))
    .optional(),
  /** Without TLS the network reads ids and features. */
  insecure_http: yesOrNo.default(false),
  response_bytes: wholeNumber(1024, 1 << 30).default(8 << 20),
}).superRefine((given, context) => {
  checkIdentity(given, context);
  if (given.url.startsWith("https:") || given.insecure_http) return;
  const message = "must begin with https://. If the network is secure without TLS, set 'insecure_http: true'";
  context.addIssue({ code: "custom", path: ["url"], message });
});

const serviceFiles = [...certificateFields, "token_file"] as const;

const lookups = { postgres, mysql, http: service };
type LookupName = keyof typeof lookups;
const lookupNames = Object.keys(lookups) as readonly LookupName[];

const features = object({
  postgres: postgres.optional(),
  mysql: mysql.optional(),
  http: service.optional(),
  timeout_ms: wholeNumber(10, 600_000).default(2000),
  cache_seconds: wholeNumber(0, 86_400).default(0),
  cache_people: wholeNumber(1, 10_000_000).default(100_000),
});

export const scoringField = object({ features: features.optional() }).prefault({});

type Given = z.output<typeof scoringField>;
type Secret = { readonly insecureFiles?: boolean };
type FeaturesGiven = NonNullable<Given["features"]>;
type Source = { readonly [N in LookupName]: { readonly [F in N]: NonNullable<FeaturesGiven[N]> & Secret } };
/** With one of them, whose paths are absolute. */
export type FeaturesConfig = Omit<FeaturesGiven, LookupName> & { readonly source: Source[LookupName] };
export interface ScoringConfig {
  /** Undefined: they are in the party's table. */
  readonly features?: FeaturesConfig | undefined;
}

/** @throws TandemError FILE_FORMAT naming the line */
export function refuseScoringFields(file: ConfigFile): void {
  for (const name of ["postgres", "mysql"] as const)
    for (const [field, why] of Object.entries(refusedServerFields)) {
      const path = ["scoring", "features", name, field];
      if (file.hasIn(path)) throw file.error(path, `field '${path.join(".")}' ${why}`);
    }
}

/** @throws TandemError FILE_FORMAT naming the line, unless it names one source */
export function scoringFrom(
  file: ConfigFile,
  { features: given }: Given,
  insecureFiles: boolean,
  from: (path: string) => string,
): ScoringConfig {
  if (given === undefined) return {};
  const [first, second] = lookupNames.filter((name) => given[name] !== undefined);
  const path = ["scoring", "features"];
  if (first === undefined)
    throw file.error(
      path,
      `field 'scoring.features' must have one of ${lookupNames.join(", ")}; without it the table is used`,
    );
  if (second !== undefined)
    throw file.error([...path, second], `fields 'scoring.features.${first}' and '${second}' exclude each other`);
  const place = { from, insecureFiles };
  const { postgres: ofPostgres, mysql: ofMysql, http, ...bounds } = given;
  if (ofPostgres !== undefined)
    return { features: { ...bounds, source: { postgres: resolveServer(ofPostgres, place) } } };
  if (ofMysql !== undefined) return { features: { ...bounds, source: { mysql: resolveServer(ofMysql, place) } } };
  return http === undefined
    ? {}
    : {
        features: {
          ...bounds,
          source: { http: { ...http, ...absolutePaths(http, serviceFiles, from), insecureFiles } },
        },
      };
}
