/** A relay's own certificate and key, checked before it listens. */
import { requireAll } from "../checks/check.ts";
import { checkOwnCertificate } from "../checks/own-certificate.ts";
import { readIdentity } from "../identity.ts";
import type { RelayConfig } from "../config/relay-config.ts";

/** @throws TandemError naming the file, and what to do */
export async function readRelayIdentity(
  tls: RelayConfig["tls"],
): Promise<{ readonly certificate: string; readonly key: string }> {
  requireAll(await checkOwnCertificate(tls, "the relay's operator", Date.now()));
  return readIdentity(tls);
}
