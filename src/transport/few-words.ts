/** A flood at the door must not become a flood in the log: some strangers are named, the others are counted. */
import type { OnTurnedAway } from "../base/listening/waiting-room.ts";

/** Within each stretch of time so many are told one by one; the rest is one line at its end. */
const stretchMs = 60_000;
const toldMax = 5;

export interface FewWords {
  readonly tell: OnTurnedAway;
  /** Says what is still to be said. */
  close(): void;
}

export function fewWords(tell: OnTurnedAway): FewWords {
  let told = 0;
  let untold = 0;
  let lastAddress = "";
  let stretch: NodeJS.Timeout | null = null;
  const endStretch = (): void => {
    if (stretch !== null) clearTimeout(stretch);
    stretch = null;
    if (untold > 0) tell(lastAddress, `it was the last of ${untold} more within ${stretchMs / 1000} s`);
    told = untold = 0;
  };
  return {
    tell(address, why) {
      stretch ??= setTimeout(endStretch, stretchMs).unref();
      if (told < toldMax) {
        told++;
        tell(address, why);
        return;
      }
      untold++;
      lastAddress = address;
    },
    close: endStretch,
  };
}
