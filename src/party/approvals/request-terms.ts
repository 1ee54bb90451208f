/** What a request asks for: its digest, what must stay the same until the job begins, and how a job may differ. */
import { createHash } from "node:crypto";
import { TandemError } from "../../base/error.ts";
import { type AgreedParameters, flatParameters } from "../../protocol/job-parameters.ts";
import { purposeCharactersMax } from "../../store/consent-file.ts";
import type { RequestTerms, RequestWork } from "../../store/request-file.ts";
import type { ActiveRequest } from "../../wire/generated/tandem/v1/admission_pb.ts";
import { peerText } from "../../wire/peer-text.ts";

const normalisationsMax = 16;

/**
 * @param partner its pinned name
 * @param agreed null where only an alignment is requested
 * @param columns names of this party's columns
 * @throws TandemError HANDSHAKE_MISMATCH for what no honest party sends
 */
export function requestTerms(
  request: ActiveRequest,
  agreed: AgreedParameters | null,
  partner: string,
  columns: readonly string[],
  party: string,
): RequestTerms {
  const { rowCount: rows, purpose, normalisations, validationFile } = request;
  if (purpose.length > purposeCharactersMax)
    throw new TandemError(
      "HANDSHAKE_MISMATCH",
      `purpose: ${party} takes up to ${purposeCharactersMax} characters, not ${purpose.length}`,
    );
  if (normalisations.length > normalisationsMax)
    throw new TandemError("HANDSHAKE_MISMATCH", `normalise: ${party} takes up to ${normalisationsMax} names`);
  return {
    partner,
    work: agreed === null ? "alignment" : knownWork(request.work, agreed, party),
    job: request.parameters?.job ?? "",
    purpose: peerText(purpose),
    rows,
    aligned: request.aligned,
    normalisations: normalisations.map(peerText),
    validationFile,
    parameters: agreed === null ? {} : parametersOf(agreed),
    columns: sha256(JSON.stringify(columns)),
  };
}

/** The word is what a person reads; that a job is a vetting also follows from its parameters. */
function knownWork(work: string, { vetting }: AgreedParameters, party: string): Exclude<RequestWork, "alignment"> {
  if (vetting !== (work === "vetting"))
    throw new TandemError("HANDSHAKE_MISMATCH", `work: ${peerText(work)} is not what the parameters ask for`);
  if (work === "training" || work === "cross-validation" || work === "search" || work === "vetting") return work;
  throw new TandemError("HANDSHAKE_MISMATCH", `work: ${party} does not know ${peerText(work)}`);
}

/** The name of the job stands beside them. */
export function parametersOf(agreed: AgreedParameters): RequestTerms["parameters"] {
  const { job: _job, ...others } = flatParameters(agreed);
  return others;
}

export function termsDigest(terms: RequestTerms): string {
  return sha256(canonical(terms));
}

/** Whether an approval of `approved` for several jobs covers these terms: only names and fewer rows may differ. */
export function isAlike(terms: RequestTerms, approved: RequestTerms): boolean {
  const common = ({ job: _job, rows: _rows, purpose: _purpose, ...others }: RequestTerms): string => canonical(others);
  return terms.rows <= approved.rows && common(terms) === common(approved);
}

/** What a job that begins brings, as far as its request named it. */
export type Brought = Pick<RequestTerms, "rows"> & Partial<Omit<RequestTerms, "rows">>;

/** What differs from the request, in words; null: nothing does. Fewer rows are common to both than were requested. */
export function difference(approved: RequestTerms, brought: Brought): string | null {
  if (brought.rows > approved.rows) return `rows: ${approved.rows} requested, ${brought.rows} brought`;
  for (const name of ["aligned", "validationFile", "normalisations"] as const) {
    const given = brought[name];
    if (given !== undefined && canonical(given) !== canonical(approved[name]))
      return `${name}: ${String(approved[name])} requested, ${peerText(String(given))} brought`;
  }
  const { parameters } = brought;
  if (parameters === undefined) return null;
  for (const name of new Set([...Object.keys(approved.parameters), ...Object.keys(parameters)])) {
    const [was, is] = [approved.parameters[name], parameters[name]];
    // How many rows are common decides how finely gradients are rounded.
    const isCoarser = name === "resolutionBits" && Number(is) > 0 && Number(is) <= Number(was);
    if (was !== is && !isCoarser) return `${peerText(name)}: ${shown(was)} requested, ${peerText(shown(is))} brought`;
  }
  return null;
}

function shown(value: string | number | boolean | undefined): string {
  return value === undefined ? "nothing" : String(value);
}

/** The same text for the same value, whatever the order of its fields. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, field: unknown) =>
    typeof field === "object" && field !== null && !Array.isArray(field)
      ? Object.fromEntries(Object.entries(field).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : field,
  );
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
