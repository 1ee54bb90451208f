/** A bank that deviates does not check itself: it takes whatever sums and outcomes come of what it has done. */
import { UncountedSums } from "../../src/protocol/active/uncounted-sums.ts";
import { BelievableSums } from "../../src/protocol/sent/active-believable-sums.ts";
import { PeerSession } from "../../src/protocol/active/peer-session.ts";
import { vi } from "vitest";

/** For as long as `work` takes: an auditor's own checks are on again afterwards. */
export async function withoutOwnChecks<T>(work: () => Promise<T>): Promise<T> {
  const believing = [BelievableSums.prototype, UncountedSums.prototype].map((check) =>
    vi.spyOn(check, "fault").mockReturnValue(null),
  );
  const checked = Reflect.get(PeerSession.prototype, "splits") as PeerSession["splits"];
  const taking = vi.spyOn(PeerSession.prototype, "splits").mockImplementation(function (
    this: PeerSession,
    tree,
    decisions,
    outcomes,
  ) {
    const taken = decisions.map((decision) => ({ ...decision, addsUp: () => true }));
    return checked.call(this, tree, taken, outcomes);
  });
  try {
    return await work();
  } finally {
    for (const spy of believing) spy.mockRestore();
    taking.mockRestore();
  }
}
