/** The option of commands that a party's workers can share. */
import type { Command } from "commander";

export interface CrewFlags {
  readonly embedded?: boolean;
}

export function addCrewOption(command: Command): Command {
  return command.option("--embedded", "do all work in this process, whatever the config says of a crew");
}
