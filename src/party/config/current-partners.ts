/**
 * The pins of a party's partners as its config has them now. A process may run for months: a pin that is added or
 * removed meanwhile counts for the next connection.
 */
import * as z from "zod";
import { ConfigFile } from "./config-file.ts";
import { fingerprint } from "./fingerprint-field.ts";

interface Partner {
  readonly name: string;
  readonly fingerprint: readonly string[];
}

/** Other fields are not looked at: what they say was decided when the process started. */
const partners = z.array(z.looseObject({ name: z.string(), fingerprint }));
const schemas = { passives: z.looseObject({ passives: partners }), active: z.looseObject({ active: partners }) };

/**
 * @param partners as they were at the start. One that the config names no more has no pin; one that it names only since
 *   then is left out
 * @throws TandemError FILE_UNREADABLE, or FILE_FORMAT naming file and line
 */
export async function currentPartners<P extends Partner>(
  { file: path }: { readonly file?: string | null },
  partners: readonly P[],
): Promise<readonly P[]> {
  if (path === undefined || path === null) return partners;
  const file = await ConfigFile.read(path);
  const now: readonly Partner[] = file.has("passives")
    ? file.parse(schemas.passives).passives
    : file.parse(schemas.active).active;
  return partners.map((partner) => ({
    ...partner,
    fingerprint: now.find(({ name }) => name === partner.name)?.fingerprint ?? [],
  }));
}
