/**
 * `bench` and `reproduce` belong to lab/, which a clone of the repository has and the installed package does not. The
 * build bundles them into dist/program/lab/; packing leaves that folder out.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { Command } from "commander";
import { TandemError } from "../base/error.ts";
import { packagePath } from "../base/package-root.ts";

type LabCommands = Readonly<Record<"bench" | "reproduce", () => Command>>;

export async function labCommand(name: keyof LabCommands): Promise<Command> {
  const bundle = packagePath("dist", "program", "lab", "commands.cjs");
  if (!existsSync(bundle)) return missingCommand(name);
  const { labCommands } = createRequire(bundle)(bundle) as { readonly labCommands: LabCommands };
  return labCommands[name]();
}

function missingCommand(name: string): Command {
  return new Command(name)
    .description("only in a clone of the repository")
    .allowUnknownOption()
    .argument("[options...]")
    .action(() => {
      throw new TandemError(
        "USAGE",
        `'${name}' is not in the installed package: clone the repository, run 'npm ci' and 'npx tandem ${name}' there`,
      );
    });
}
