/** `tandem party` and `tandem train`: one company's process. Under a supervisor it speaks in events, one JSON a line. */
import { Command } from "commander";
import { TandemError } from "../base/error.ts";
import type { Emit } from "../party/events.ts";

interface PartyOptions {
  readonly config: string;
  readonly supervised?: boolean;
}

export function partyCommands(): Command[] {
  return [
    partyCommand("party", "run a passive party", async (path, emit) => {
      const [{ readPassiveConfig }, { runPassive }] = await Promise.all([import("../party/config.ts"), import("../party/run-passive.ts")]);
      const config = await readPassiveConfig(path);
      return { name: config.name, run: () => runPassive(config, emit) };
    }),
    partyCommand("train", "run the active party", async (path, emit) => {
      const [{ readActiveConfig }, { runActive }] = await Promise.all([import("../party/config.ts"), import("../party/run-active.ts")]);
      const config = await readActiveConfig(path);
      return { name: config.name, run: () => runActive(config, emit) };
    }),
  ];
}

function partyCommand(
  name: string,
  description: string,
  prepare: (path: string, emit: Emit) => Promise<{ name: string; run: () => Promise<void> }>,
): Command {
  return new Command(name)
    .description(description)
    .requiredOption("-c, --config <file>", "the party's config")
    .option("--supervised", "end when standard input closes")
    .action(async ({ config, supervised }: PartyOptions) => {
      const emit: Emit = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
      // A supervisor that is gone cannot stop us: its end of our standard input is the sign of life.
      if (supervised === true) process.stdin.on("end", () => process.exit(2)).resume();
      const party = await prepare(config, emit);
      try {
        await party.run();
      } catch (error) {
        const known = error instanceof TandemError ? error : new TandemError("INTERNAL", error instanceof Error ? (error.stack ?? error.message) : String(error));
        emit({ type: "error", party: party.name, code: known.code, message: known.message });
        process.exitCode = 2;
      }
      process.stdin.destroy();
    });
}
