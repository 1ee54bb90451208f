/** Fingerprints and names in a config that cannot be right, whatever the partner does. */
import { certificateFingerprint } from "../../transport/pinned-certificate.ts";
import { type Check, failed, ok } from "./check.ts";

interface Partner {
  readonly name: string;
  readonly fingerprint: readonly string[];
}

/** @param field of the config, which lists the partners */
export function checkPins(
  own: { readonly name: string; readonly certificate: string },
  field: "passives" | "active",
  partners: readonly Partner[],
): Check {
  const ownFingerprint = certificateFingerprint(own.certificate);
  const seen = new Map<string, string>();
  for (const [i, { name, fingerprint }] of partners.entries()) {
    const at = `${field}[${i + 1}]`;
    if (fingerprint.includes(ownFingerprint))
      return failed("pins", {
        code: "USAGE",
        words: `${at}.fingerprint is this party's own fingerprint, not that of ${name}`,
        who: own.name,
        todo: `paste the fingerprint that ${name} has sent`,
      });
    if (name === own.name)
      return failed("pins", {
        code: "USAGE",
        words: `${at}.name is this party's own name, '${name}'`,
        who: own.name,
        todo: "write the partner's name there",
      });
    for (const pin of fingerprint) {
      const other = seen.get(pin);
      if (other !== undefined)
        return failed("pins", {
          code: "USAGE",
          words: `${other} and ${name} have the same fingerprint under ${field}`,
          who: own.name,
          todo: "paste the fingerprint that each of them has sent",
        });
    }
    for (const pin of fingerprint) seen.set(pin, name);
  }
  return ok("pins", `the fingerprints of ${partners.map(({ name }) => name).join(", ")} are pinned`);
}
