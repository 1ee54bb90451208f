/** Where a request stands: it follows from what people decided, and from what their approvals were used for. */
import type { LoggedAction } from "../../store/action-log.ts";
import type { ApprovalUse, StoredRequest } from "../../store/request-file.ts";
import { isAlike } from "./request-terms.ts";

/**
 * Alignments of one approval before its job begins: a connection may be lost during one. In each of them the active
 * party may bring other ids.
 */
export const alignmentsMax = 5;

/** Over: its approval was used or has ended, so that the same job has to be requested again. */
export type Standing =
  | { readonly kind: "waiting" }
  | { readonly kind: "approved"; readonly approval: LoggedAction }
  | { readonly kind: "denied"; readonly reason: string }
  | { readonly kind: "over" };

export interface KnownRequests {
  readonly requests: readonly StoredRequest[];
  readonly actions: readonly LoggedAction[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** @param job id of the job that continues; empty: a new one */
export function standingOf(request: StoredRequest, known: KnownRequests, job = ""): Standing {
  const { actions, now } = known;
  const own = actions.filter(({ request: id, terms }) => id === request.id && terms === request.digest);
  const last = own.at(-1);
  if (last?.what === "denied") return isPast(last, now) ? { kind: "over" } : { kind: "denied", reason: last.reason };
  const inForce = approvalsInForce(actions);
  const used = request.uses.filter(({ job: begun }) => job !== "" && begun?.id === job);
  const approval =
    inForce.find(({ hash }) => used.some((use) => use.approval === hash)) ?? usableFor(request, inForce, known);
  if (approval !== undefined) return { kind: "approved", approval };
  return { kind: last === undefined && request.uses.length === 0 ? "waiting" : "over" };
}

/** Those that were not withdrawn by a later decision about the same request. */
function approvalsInForce(actions: readonly LoggedAction[]): readonly LoggedAction[] {
  const latest = new Map(actions.map((action) => [action.request, action]));
  return actions.filter((action) => action.what === "approved" && latest.get(action.request) === action);
}

function usableFor(
  request: StoredRequest,
  inForce: readonly LoggedAction[],
  { requests, now }: KnownRequests,
): LoggedAction | undefined {
  return inForce.find((approval) => {
    if (isPast(approval, now)) return false;
    const isOwn = approval.request === request.id && approval.terms === request.digest;
    const approved = isOwn ? request : requests.find(({ id }) => id === approval.request);
    if (approved === undefined || approved.digest !== approval.terms) return false;
    if (!isOwn && (approval.uses < 2 || !isAlike(request.terms, approved.terms))) return false;
    return request.uses.some((use) => isOpen(use, approval)) || usesOf(approval, requests) < approval.uses;
  });
}

/** Alignments were begun for it, and no job yet. */
export function isOpen({ approval, job, alignments }: ApprovalUse, { hash }: Pick<LoggedAction, "hash">): boolean {
  return approval === hash && job === null && alignments < alignmentsMax;
}

/** How many jobs have used an approval. */
export function usesOf({ hash }: LoggedAction, requests: readonly StoredRequest[]): number {
  return requests.flatMap(({ uses }) => uses).filter(({ approval }) => approval === hash).length;
}

function isPast({ until }: LoggedAction, now: number): boolean {
  return Date.parse(until) <= now;
}
