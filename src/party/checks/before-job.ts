/**
 * What `train`, `party` and the other commands look at before they begin: the cheap checks of `tandem doctor`. What is
 * wrong here is reported at once, and blames no partner.
 */
import type { Emit } from "../../record/events.ts";
import type { TlsIdentity } from "../../transport/tls-settings.ts";
import type { ActiveConfig, PassiveConfig } from "../config/config.ts";
import { readIdentity } from "../identity.ts";
import { requireAll, wordsOf } from "./check.ts";
import { checkOwnCertificate } from "./own-certificate.ts";
import { checkOutputs } from "./own-machine.ts";
import { checkPartner } from "./partner.ts";
import { checkPins } from "./pins.ts";

/** A step of a partner that does not answer is left to the attempts at the job, which wait for it. */
const partnerTimeoutMs = 5000;

type Company = Pick<PassiveConfig, "name" | "tls">;

/**
 * @param emit null: warnings are left to the caller
 * @throws TandemError naming the file, what is wrong with it and who must act
 */
export async function requireOwnIdentity(
  { name, tls }: Company,
  field: "passives" | "active",
  partners: Parameters<typeof checkPins>[2],
  emit: Emit | null,
): Promise<TlsIdentity> {
  const checks = await checkOwnCertificate(tls, name, Date.now());
  requireAll(checks);
  const identity = await readIdentity(tls);
  requireAll([checkPins({ name, certificate: identity.certificate }, field, partners)]);
  for (const check of checks)
    if (check.state === "warning") emit?.({ type: "notice", party: name, words: wordsOf(check) });
  return identity;
}

/** Own files of an active party: before its data is read. @throws TandemError as above */
export async function requireOwnFiles(config: ActiveConfig, emit: Emit): Promise<void> {
  await requireOwnIdentity(config, "passives", config.passives, emit);
  requireAll(await checkOutputs(config));
}

/**
 * Before a new job, or an alignment alone (`isTrained` false): what no waiting would change is an error at once, and
 * names that differ are a notice.
 * @throws TandemError
 */
export async function requirePartners(config: ActiveConfig, emit: Emit, isTrained: boolean): Promise<void> {
  const terms = {
    own: config.name,
    identity: await readIdentity(config.tls),
    ...(isTrained && { training: { enableCategorical: config.job.training.enable_categorical } }),
    timeoutMs: partnerTimeoutMs,
    measured: null,
  };
  const asked = await Promise.all(config.passives.map((passive) => checkPartner(passive, terms)));
  for (const { checks, isLasting } of asked) {
    for (const check of checks)
      if (check.state === "warning") emit({ type: "notice", party: config.name, words: wordsOf(check) });
    if (isLasting) requireAll(checks);
  }
}
