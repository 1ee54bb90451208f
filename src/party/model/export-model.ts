/**
 * The whole model for XGBoost, at the active party, once every passive party has consented: each consent must be signed
 * with the certificate that is pinned for its party, for this model and for this recipient. Running it is the active
 * party's own consent.
 */
import type { X509Certificate } from "node:crypto";
import { dirname } from "node:path";
import { requireNewFile } from "../../base/files/new-file.ts";
import { TandemError } from "../../base/error.ts";
import { type ObjectiveName, objectiveFor } from "../../gbdt/objective/objectives.ts";
import { requireXgboostForm } from "../../gbdt/tree/xgboost-agreement.ts";
import { peerText } from "../../wire/peer-text.ts";
import { type Consent, type ConsentStatement, readConsent } from "../../store/consent-file.ts";
import { appendOwn } from "../../record/append-own.ts";
import { mergeShares } from "../../store/merge-shares.ts";
import { type ActiveShare, readActiveShare } from "../../store/share-files.ts";
import { withUsedFeatures } from "../../store/xgboost/used-features.ts";
import { writeXgboostModel } from "../../store/xgboost/export.ts";
import { certificateFingerprint } from "../../transport/pinned-certificate.ts";
import { readRenewal } from "../certificates/renewal.ts";
import type { ActiveConfig } from "../config/config.ts";
import { jobSharePath } from "./job-share.ts";
import { consentFact } from "./consent-fact.ts";
import { checkValidAt } from "./signer.ts";

export interface ExportRequest {
  readonly job: string;
  /** Files, in any order. */
  readonly consents: readonly string[];
  readonly out: string;
}

export interface ExportedModel {
  readonly model: string;
  readonly objective: ObjectiveName;
  readonly treeCount: number;
  /** Of all parties, under the names that they have in the file. */
  readonly featureCount: number;
  /** Who consented to what, by the names in this party's config. */
  readonly consents: readonly { readonly party: string; readonly statement: ConsentStatement }[];
}

/**
 * @throws TandemError USAGE if XGBoost has no such objective; CONSENT, CERTIFICATE or FILE_FORMAT naming the file, or
 * whose consent is missing. Nothing is written then
 */
export async function exportModel(config: ActiveConfig, { job, consents, out }: ExportRequest): Promise<ExportedModel> {
  const active = await readActiveShare(jobSharePath(config.output.directory, job));
  requireXgboostForm(objectiveFor(active.objective)); // refuses what XGBoost has not, before consents are asked for
  await requireNewFile(out, "Name another file with --out");
  const { current, next, previous } = await readRenewal(config);
  const own = [current, next, previous].flatMap((pair) => pair?.certificate?.fingerprint ?? []);
  const given = new Map<string, Consent>();
  for (const path of consents) {
    const { certificate, consent } = await readConsent(path);
    const party = signerOf(path, certificate, config);
    checkStatement(path, party, consent.statement, active, own);
    checkValidAt(certificate, new Date(consent.statement.date), path);
    if (given.has(party)) throw new TandemError("CONSENT", `${path} is a second consent of ${party}. One is enough`);
    given.set(party, consent);
  }
  const ordered = active.passiveNames.map((party) => ({ party, consent: given.get(party) }));
  const missing = ordered.filter(({ consent }) => consent === undefined).map(({ party }) => party);
  if (missing.length > 0)
    throw new TandemError(
      "CONSENT",
      `the consent of ${missing.join(", ")} is missing. ` +
        `It is made there, with: tandem model consent --model ${job} --to ${active.name}`,
    );
  const complete = ordered.flatMap(({ party, consent }) => (consent === undefined ? [] : [{ party, ...consent }]));

  const { model, features } = withUsedFeatures(
    mergeShares(
      active,
      complete.map(({ share }) => share),
    ),
    complete.length + 1,
  );
  await writeXgboostModel(out, model, features, [active.name, ...active.passiveNames]);
  const facts = complete.map(({ party, share, statement: { date, purpose } }) => ({
    ...consentFact(share),
    at: Date.parse(date),
    active: active.name,
    passive: party,
    purpose: peerText(purpose),
  }));
  appendOwn(dirname(jobSharePath(config.output.directory, job)), ...facts);
  return {
    model: active.model,
    objective: active.objective,
    treeCount: model.trees.length,
    featureCount: features.flat().length,
    consents: complete.map(({ party, statement }) => ({ party, statement })),
  };
}

/** @returns the passive party whose pinned certificate this is, by its name in the config */
function signerOf(path: string, certificate: X509Certificate, { passives }: ActiveConfig): string {
  const fingerprint = certificateFingerprint(certificate.toString());
  const signer = passives.find((passive) => passive.fingerprint.includes(fingerprint));
  if (signer === undefined)
    throw new TandemError(
      "CONSENT",
      `${path} is signed with a certificate that the config does not pin. Its fingerprint is ${fingerprint}`,
    );
  return signer.name;
}

function checkStatement(
  path: string,
  party: string,
  { model, job, recipient }: ConsentStatement,
  active: ActiveShare,
  own: readonly string[],
): void {
  if (!active.passiveNames.includes(party))
    throw new TandemError("CONSENT", `${path}: ${party} took no part in ${active.job}`);
  if (model !== active.model) {
    throw new TandemError(
      "CONSENT",
      `${path}: ${party} consents for model ${peerText(model.slice(0, 12))} (job ${peerText(job)}), ` +
        `not for ${active.model.slice(0, 12)} (job ${active.job})`,
    );
  }
  if (!own.includes(recipient.fingerprint)) {
    throw new TandemError(
      "CONSENT",
      `${path}: ${party} consents for ${peerText(recipient.name)} with the certificate ${recipient.fingerprint}. ` +
        `This party's is ${own[0]}. ` +
        `After a renewal, ask ${party} for another consent`,
    );
  }
}
