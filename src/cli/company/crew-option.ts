/** The option of commands that can use a party's workers. */
import type { Command } from "commander";

export interface CrewFlags {
  readonly embedded?: boolean;
}

export function addCrewOption(command: Command): Command {
  return command.option("--embedded", "do all work in this process, even if the config has a crew");
}
