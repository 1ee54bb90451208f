/** The commands that only a clone of the repository has. src/cli/lab-command.ts loads the bundle of this module. */
import { benchCommand } from "./bench.ts";
import { reproduceCommand } from "./reproduce.ts";

export const labCommands = { bench: benchCommand, reproduce: reproduceCommand };
