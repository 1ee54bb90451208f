/**
 * What `tandem party` prints on standard error: its log, and on a terminal, below the log, a live view of the jobs
 * under way. With `quiet` it prints warnings and errors only.
 */
import type { PassiveConfig } from "../../party/config/config.ts";
import type { Emit } from "../../record/events.ts";
import { logTo } from "../../record/log.ts";
import { LiveView, type Screen } from "./live-view.ts";

export interface PartyOutput {
  readonly emit: Emit;
  /** The last state of the live view stays on the terminal. */
  close(): void;
}

type Config = Pick<PassiveConfig, "name" | "log">;

/** @param screen null where there is no terminal */
export function partyOutput(
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
): PartyOutput {
  const live = screen === null || quiet ? null : new LiveView(screen, name, true);
  const log = logTo({
    level: quiet && level !== "error" ? "warn" : level,
    terminal: screen !== null,
    write: live === null ? write : (text) => live.line(text.trimEnd()),
    now,
  });
  return {
    emit(event) {
      if (live === null || event.type !== "passive-tree") log(event); // the live view counts the trees
      live?.add(event);
    },
    close: () => live?.close(),
  };
}
