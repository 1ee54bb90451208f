/**
 * How records store the training protocol of a job: by a flag, which is left out where members are sent. All other code
 * uses MembershipFacts (base/membership.ts). Runs in browsers too.
 */
import { type Membership, type MembershipFacts, membershipFacts } from "../base/membership.ts";

export function membershipFlag(membership: Membership): { readonly hidesMembers?: true } {
  return membership === "hidden" ? { hidesMembers: true } : {};
}

export function recordedMembership(record: { readonly hidesMembers?: boolean }): MembershipFacts {
  return membershipFacts[record.hidesMembers === true ? "hidden" : "sent"];
}
