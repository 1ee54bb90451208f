/** The commands of `tandem`, and running one of them. */
import { Command } from "commander";
import { programVersion } from "../base/program-version.ts";
import type { Supervise } from "../simulate/supervisor.ts";
import { labCommand } from "./lab-command.ts";
import { markRequired } from "./terminal/help-text.ts";
import { throwUsageErrors } from "./terminal/usage-error.ts";

/** @param supervise starts the parties of simulations; default: as processes */
type Load = (supervise?: Supervise) => Promise<Command>;

/** In the order of the help. Each is loaded on demand: loading takes most of the time of a short command. */
const groups: Readonly<Record<string, Readonly<Record<string, Load>>>> = {
  "Try it on one machine:": {
    demo: async (supervise) => (await import("./table/demo.ts")).demoCommand(supervise),
    simulate: async (supervise) => (await import("./table/simulate.ts")).simulateCommand(supervise),
    cv: async (supervise) => (await import("./table/cv.ts")).cvCommand(supervise),
    tune: async () => (await import("./table/tune.ts")).tuneCommand(),
    estimate: async () => (await import("./table/estimate.ts")).estimateCommand(),
    audit: async () => (await import("./table/audit.ts")).auditCommand(),
  },
  "Train between companies:": {
    init: async () => (await import("./company/init.ts")).initCommand(),
    fingerprint: async () => (await import("./company/init.ts")).fingerprintCommand(),
    cert: async () => (await import("./company/cert.ts")).certCommand(),
    doctor: async () => (await import("./company/doctor.ts")).doctorCommand(),
    party: async () => (await import("./company/party.ts")).partyCommand(),
    requests: async () => (await import("./company/requests.ts")).requestsCommand(),
    approve: async () => (await import("./company/requests.ts")).approveCommand(),
    deny: async () => (await import("./company/requests.ts")).denyCommand(),
    relay: async () => (await import("./company/relay.ts")).relayCommand(),
    worker: async () => (await import("./company/worker.ts")).workerCommand(),
    train: async () => (await import("./company/train.ts")).trainCommand(),
    vet: async () => (await import("./company/vet.ts")).vetCommand(),
    align: async () => (await import("./company/align.ts")).alignCommand(),
  },
  "Use a model:": {
    predict: async () => (await import("./model/predict.ts")).predictCommand(),
    evaluate: async () => (await import("./model/evaluate.ts")).evaluateCommand(),
    serve: async () => (await import("./model/serve.ts")).serveCommand(),
    refresh: async () => (await import("./model/refresh.ts")).refreshCommand(),
    model: async () => (await import("./model/model.ts")).modelCommand(),
  },
  "Look at jobs:": {
    report: async () => (await import("./report.ts")).reportCommand(),
    "verify-job": async () => (await import("./company/verify-job.ts")).verifyJobCommand(),
    dashboard: async () => (await import("./dashboard.ts")).dashboardCommand(),
  },
  "Measure:": {
    bench: () => labCommand("bench"),
    reproduce: () => labCommand("reproduce"),
  },
};

/** One command where its name comes first, none for the version, otherwise all: help and suggestions need them. */
function isWanted(name: string, first: string | undefined): boolean {
  if (first === "--version" || first === "-V") return false;
  const isCommand = Object.values(groups).some((commands) => first !== undefined && Object.hasOwn(commands, first));
  return !isCommand || name === first;
}

/** @throws CommanderError for --help, --version and wrong options; what the command throws */
export async function runCommand(args: readonly string[], supervise?: Supervise): Promise<void> {
  const program = new Command("tandem")
    .description("Vertical federated XGBoost: companies train one model together without sharing rows.")
    .version(programVersion());
  for (const [heading, commands] of Object.entries(groups)) {
    const wanted = Object.entries(commands).filter(([name]) => isWanted(name, args[0]));
    if (wanted.length > 0) program.commandsGroup(heading);
    for (const command of await Promise.all(wanted.map(([, load]) => load(supervise))))
      program.addCommand(markRequired(command));
  }
  throwUsageErrors(program, args);
  await program.parseAsync(args, { from: "user" });
}
