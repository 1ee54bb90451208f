import { Command, Option } from "commander";
import { test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { throwUsageErrors } from "./usage-error.ts";

/** Parses a command line as the program does. */
async function parse(args: readonly string[]): Promise<void> {
  const train = new Command("train").option("-c, --config <file>").action(() => {});
  const scheme = new Option("--scheme <name>").choices(["paillier", "lattice"]);
  const simulate = new Command("simulate")
    .option("--max-depth <value>")
    .addOption(scheme)
    .action(() => {});
  const program = throwUsageErrors(new Command("tandem").addCommand(train).addCommand(simulate), args);
  await program.parseAsync(args, { from: "user" });
}

test.each([
  [["train", "--fast"], /^unknown option '--fast'\. Try 'tandem train --help'$/],
  [["simulate", "--max-dept", "3"], /did you mean --max-depth\? Try 'tandem simulate --help'$/],
  [["--config", "a.yaml", "train"], /'--config'\. Put options after .* Try 'tandem train --help'$/],
  [["simulate", "--layout", "paper"], /It was removed: only experiments in a clone .* Try 'tandem simulate --help'$/],
  [["simulate", "--scheme", "latice"], /choices are paillier, lattice; did you mean 'lattice'\? Try/],
  [["simulate", "--scheme", "rot13"], /Allowed choices are paillier, lattice\. Try/],
  [["--fast"], /^unknown option '--fast'\. Try 'tandem --help'$/],
  [["train", "--max-depth", "3"], /Set it in the config: training\.max_depth\. Try 'tandem train --help'$/],
  [["train", "--privacy=strict"], /Set it in the config: privacy\. Try/],
])("%j is pointed to the right help", async (args, message) => {
  await expectError(() => parse(args), "USAGE", message);
});
