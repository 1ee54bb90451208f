/**
 * What `tandem party` says on standard error: its log, and on a terminal, below the log, a live picture of the job that
 * is under way. With `quiet` it speaks only of what somebody should look into.
 */
import type { PassiveConfig } from "../../party/config/config.ts";
import type { Emit } from "../../record/events.ts";
import { logTo } from "../../record/log.ts";
import { LiveView, type Screen } from "./live-view.ts";

export interface PartyVoice {
  readonly emit: Emit;
  /** The last picture stays on the terminal. */
  close(): void;
}

type Config = Pick<PassiveConfig, "name" | "log">;

/** @param screen null where there is no terminal */
export function partyVoice(
  { name, log: { level } }: Config,
  {
    quiet,
    screen,
    write,
    now,
  }: {
    readonly quiet: boolean;
    readonly screen: Screen | null;
    readonly write: (text: string) => void;
    readonly now: () => Date;
  },
): PartyVoice {
  const live = screen === null || quiet ? null : new LiveView(screen, name);
  const log = logTo({
    level: quiet && level !== "error" ? "warn" : level,
    terminal: screen !== null,
    write: live === null ? write : (text) => live.line(text.trimEnd()),
    now,
  });
  return {
    emit(event) {
      if (live === null || event.type !== "passive-tree") log(event); // the picture counts the trees
      live?.add(event);
    },
    close: () => live?.close(),
  };
}
