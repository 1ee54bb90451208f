/** `tandem serve`: scores over HTTP at the active party. */
import { Command, Option } from "commander";
import { TandemError } from "../../base/error.ts";
import type { ShadowSettings } from "../../scoring/http/run-shadow.ts";
import { resolveParameters, servingParameters } from "../../base/parameters/parameters.ts";
import { given, parameterOption } from "../table/job-options.ts";
import { programVersion } from "../../base/program-version.ts";
import { addExamples } from "../terminal/help-text.ts";
import { readToken } from "../../base/files/token-file.ts";
import { portNumber } from "../whole-number.ts";

interface ServeFlags {
  readonly config: string;
  readonly model: readonly string[];
  readonly shadow?: string;
  readonly shadowOutput?: string;
  readonly shadowShare?: string;
  readonly host: string;
  readonly port: string;
  readonly tokenFile?: string;
  readonly insecureWithoutToken?: boolean;
  readonly unknown: "refuse" | "missing";
  readonly [parameter: string]: unknown;
}

const defaultPort = "8080";

export function serveCommand(): Command {
  const command = new Command("serve")
    .description("score people over HTTP with a trained model")
    .requiredOption("-c, --config <file>", "the active party's config")
    .requiredOption(
      "--model <model>",
      "the job that trained it, a model of the registry (credit@champion), or a folder with its share.json; " +
        "repeat it to serve several",
      (model: string, before: readonly string[] = []) => [...before, model],
    )
    .option("--host <host>", "where to listen", "127.0.0.1")
    .option("--port <port>", "its port; 0: a free port", defaultPort)
    .option("--token-file <file>", "a file with the token that every request must carry")
    .option("--insecure-without-token", "listen beyond this machine without a token")
    .addOption(
      new Option(
        "--unknown <rule>",
        "people whom a passive party does not know: an error for each, or a score as if missing there",
      )
        .choices(["refuse", "missing"])
        .default("refuse"),
    );
  command.optionsGroup("Shadow scoring:");
  command
    .option("--shadow <model>", "score requests to /predict with this model too, after they are answered")
    .option("--shadow-output <file>", "where to append both scores, as lines of JSON")
    .option("--shadow-share <share>", "the share of requests, above 0 and up to 1", "1");
  command.optionsGroup("Batches and limits:");
  for (const [name, spec] of Object.entries(servingParameters)) command.addOption(parameterOption(name, spec));
  command.addHelpText(
    "after",
    "\nAddresses: POST /predict, /models/<model>/predict; GET /models, /openapi.json, /health, /ready, /metrics",
  );
  addExamples(command, "tandem serve -c active.yaml --model spring-model");
  return command.action(async (flags: ServeFlags) => {
    const port = portNumber("--port", flags.port);
    const parameters = resolveParameters(servingParameters, given(flags, servingParameters));
    const [{ readActiveConfig }, { runServe }, { logTo }] = await Promise.all([
      import("../../party/config/config.ts"),
      import("../../scoring/http/run-serve.ts"),
      import("../../record/log.ts"),
    ]);
    const config = await readActiveConfig(flags.config, () => "serve");
    const token = flags.tokenFile === undefined ? null : await readToken(flags.tokenFile, config.tls.insecure_key_file);
    const stop = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
    const log = logTo({
      level: config.log.level,
      terminal: process.stderr.isTTY === true,
      write: (text) => process.stderr.write(text),
      now: () => new Date(),
    });
    const options = {
      model: flags.model[0],
      more: flags.model.slice(1),
      ...shadowFrom(flags),
      host: flags.host,
      port,
      token,
      insecureWithoutToken: flags.insecureWithoutToken === true,
      unknownAsMissing: flags.unknown === "missing",
      parameters,
      version: programVersion(),
    };
    await runServe(config, options, log, stop.signal);
  });
}

/** @throws TandemError USAGE */
function shadowFrom({ shadow: model, shadowOutput: output, shadowShare: given }: ServeFlags): {
  readonly shadow?: ShadowSettings;
} {
  if (model === undefined) {
    if (output !== undefined) throw new TandemError("USAGE", "--shadow-output takes effect with --shadow only");
    return {};
  }
  if (output === undefined) throw new TandemError("USAGE", "--shadow needs --shadow-output, the file for its scores");
  const share = Number(given);
  if (!(share > 0 && share <= 1))
    throw new TandemError("USAGE", `--shadow-share must be above 0 and up to 1; got '${given}'`);
  return { shadow: { model, share, output } };
}
