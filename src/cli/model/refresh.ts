/** `tandem refresh`: recomputes the leaves of a trained model on newly labelled instances. */
import { Command, Option } from "commander";
import type { RefreshResult } from "../../scoring/run-refresh.ts";
import { addExamples } from "../terminal/help-text.ts";
import { openProgress } from "../terminal/progress-options.ts";
import { textTable } from "../terminal/text-table.ts";

interface RefreshFlags {
  readonly config: string;
  readonly model: string;
  readonly input: string;
  readonly job: string;
  readonly unknown: "refuse" | "skip" | "missing";
  readonly refreshLeaf: boolean;
  readonly json?: boolean;
}

export function refreshCommand(): Command {
  const command = new Command("refresh")
    .description("recompute the leaves of a trained model on new people, and keep its splits")
    .requiredOption("-c, --config <file>", "the active party's config; it gives eta, lambda and so on")
    .requiredOption(
      "--model <job>",
      "the job that trained it, a model of the registry (credit@champion), or a folder with its share.json",
    )
    .requiredOption("--input <file>", "ids, labels and this party's own features of the new people")
    .requiredOption("--job <name>", "the name of the refreshed model; the original is kept")
    .addOption(
      new Option(
        "--unknown <rule>",
        "people whom a passive party does not know: refuse all, skip them, or take them as missing there",
      )
        .choices(["refuse", "skip", "missing"])
        .default("refuse"),
    )
    .option("--no-refresh-leaf", "refresh covers and gains only, and keep the leaves")
    .option("--json", "print the result as one line of JSON")
    .action(runRefreshCommand);
  return addExamples(command, "tandem refresh -c active.yaml --model spring --input autumn.csv --job autumn");
}

async function runRefreshCommand({ config: path, json, ...flags }: RefreshFlags): Promise<void> {
  const [{ readActiveConfig }, { runRefresh }] = await Promise.all([
    import("../../party/config/config.ts"),
    import("../../scoring/run-refresh.ts"),
  ]);
  const config = await readActiveConfig(path, () => "refresh");
  const progress = await openProgress(json === true ? { json } : {});
  const onProgress = (done: number, total: number): void =>
    progress.line(`${config.name}: asked about ${done.toLocaleString("en")} of ${total.toLocaleString("en")} people`);
  const result = await runRefresh(config, { ...flags, onProgress });
  process.stdout.write(json === true ? `${JSON.stringify(result)}\n` : `${readable(result)}\n`);
}

function readable({ from, job, rows, used, unknown, metrics, absence, path }: RefreshResult): string {
  const unknownLines = Object.entries(unknown).map(
    ([name, count]) => `  ${count.toLocaleString("en")} people are unknown to ${name}`,
  );
  const names = Object.keys(metrics.after);
  const row = (title: string, of: Readonly<Record<string, number>>): string[] => [
    title,
    ...names.map((name) => of[name].toFixed(4)),
  ];
  return [
    "",
    `  ${job}: the splits of ${from}, and leaves from ` +
      `${used.toLocaleString("en")} of ${rows.toLocaleString("en")} people`,
    ...unknownLines,
    "",
    textTable([["on these people", ...names], row("old leaves", metrics.before), row("new leaves", metrics.after)]),
    ...(absence === null ? [] : [`  ${absence}`]),
    "",
    "  new leaves were fitted to these people: evaluate on others, with 'tandem predict'",
    `  share: ${path}`,
  ].join("\n");
}
