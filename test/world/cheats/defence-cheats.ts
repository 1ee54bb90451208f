/** Deviations of a malicious active party in the defences that it proposes. */
import type { SentDefence } from "../../../src/protocol/agreed-defences.ts";
import type { Arena } from "./arena.ts";
import { type Caught, type Cheat, caught } from "./cheat.ts";
import { Puppet } from "./puppet.ts";

const oneThreshold: SentDefence = { name: "max_thresholds", value: 1 };
const noLimit: SentDefence = { name: "max_thresholds", value: 4096 };

/** A job of one threshold per feature, with a party that demands as much, or nothing. */
async function played(
  arena: Arena,
  demands: "demanded" | "offered",
  play: (puppet: Puppet) => Promise<string | null>,
): Promise<Caught> {
  const privacy = { max_thresholds: 1 };
  const party = demands === "demanded" ? await arena.party({ policy: { privacy } }) : await arena.plain();
  const puppet = await Puppet.of(party, arena.job(), { privacy });
  try {
    return await caught(() => play(puppet));
  } finally {
    puppet.close();
  }
}

/** The root is asked about, and the connection is lost. */
async function lost(puppet: Puppet): Promise<void> {
  await puppet.begin();
  await puppet.gradients(0);
  await puppet.root(0);
  puppet.reconnect();
}

/** Joins with other defences than the party demands. */
function joining(name: string, code: Cheat["codes"][number], defences: readonly SentDefence[]): Cheat {
  return {
    name,
    codes: [code],
    run: (arena) =>
      played(arena, "demanded", async (puppet) => {
        await puppet.begin({ defences });
        return "a job with more thresholds than the policy allows";
      }),
  };
}

export const defenceCheats: readonly Cheat[] = [
  joining("19 a demanded defence that is left out", "POLICY", []),
  joining("19 a demanded defence with a weaker value", "POLICY", [noLimit]),
  joining("19 a demanded defence twice, the weaker value last", "HANDSHAKE_MISMATCH", [oneThreshold, noLimit]),
  joining("19 a demanded defence twice, the weaker value first", "HANDSHAKE_MISMATCH", [noLimit, oneThreshold]),
  joining("19 a demanded defence with a value that is no limit", "HANDSHAKE_MISMATCH", [{ ...oneThreshold, value: 0 }]),
  joining("19 a defence that the party does not know", "HANDSHAKE_MISMATCH", [
    oneThreshold,
    { name: "rounded_gains", value: 1 },
  ]),
  {
    name: "19 a defence that is left out after a lost connection",
    codes: ["CHECKPOINT"],
    run: (arena) =>
      played(arena, "offered", async (puppet) => {
        await lost(puppet);
        await puppet.begin({ defences: [] });
        return "the rest of the job without its limit";
      }),
  },
  {
    name: "19 a parameter of the scheme in the place of a defence, after a lost connection",
    codes: ["POLICY"],
    run: (arena) =>
      played(arena, "offered", async (puppet) => {
        const { agreed } = puppet;
        await lost(puppet);
        const schemeParameters = { ...agreed.schemeParameters, maxThresholds: 1 };
        await puppet.begin({ parameters: { ...agreed, schemeParameters }, defences: [] });
        return "the rest of the job without its limit, in terms that look the same";
      }),
  },
];
