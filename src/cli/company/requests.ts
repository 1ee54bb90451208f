/** `tandem requests`, `tandem approve` and `tandem deny`: what a person at a passive party decides. */
import { userInfo } from "node:os";
import { Command } from "commander";
import type { Person, RequestDecisions, ShownRequest } from "../../party/approvals/request-decisions.ts";
import { addExamples } from "../terminal/help-text.ts";
import { wholeNumber } from "../whole-number.ts";

interface RequestFlags {
  readonly config: string;
  readonly json?: boolean;
}

const daysMax = 365;
const usesMax = 1000;

export function requestsCommand(): Command {
  const command = requestCommand(
    "requests",
    "passive party: list requests of partners, and what was decided about them",
  )
    .argument("[request]", "show this one only")
    .option("--all", "those that were decided too")
    .option("--log", "print the log of decisions, one line of JSON each")
    .option("--json", "print requests as lines of JSON")
    .action(list);
  return addExamples(command, "tandem requests -c passive.yaml", "tandem requests -c passive.yaml --log");
}

export function approveCommand(): Command {
  const command = requestCommand(
    "approve",
    "passive party: approve a request; the job begins as soon as it is its turn",
  )
    .argument("<request>", "its name, as 'tandem requests' prints it")
    .option(
      "--uses <n>",
      "approve this number of jobs with the same terms, under any name, from as many rows or fewer",
      "1",
    )
    .option("--days <n>", "how long the approval holds if it is not used (default: policy.approval_days)")
    .action(approve);
  return addExamples(
    command,
    "tandem approve 3f9a2c1b -c passive.yaml",
    "tandem approve 3f9a2c1b -c passive.yaml --uses 12 --days 365",
  );
}

export function denyCommand(): Command {
  const command = requestCommand("deny", "passive party: deny a request, or withdraw an approval")
    .argument("<request>", "its name, as 'tandem requests' prints it")
    .option("--reason <text>", "sent to the partner", "")
    .action(deny);
  return addExamples(command, "tandem deny 3f9a2c1b -c passive.yaml --reason 'not before the contract is signed'");
}

function requestCommand(name: string, description: string): Command {
  return new Command(name).description(description).requiredOption("-c, --config <file>", "the passive party's config");
}

async function list(
  id: string | undefined,
  flags: RequestFlags & { readonly all?: boolean; readonly log?: boolean },
): Promise<void> {
  const decisions = await decisionsIn(flags.config);
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  if (flags.log === true) {
    for (const { hash: _hash, ...action } of await decisions.actions()) print(JSON.stringify(action));
    return;
  }
  const wanted = (each: ShownRequest): boolean =>
    id === undefined ? flags.all === true || each.standing === "waiting" : each.id === id;
  const shown = (await decisions.list()).filter(wanted);
  if (flags.json === true) return shown.forEach((each) => print(JSON.stringify(each)));
  if (shown.length === 0) print(id === undefined ? "No request waits." : `There is no request ${id}.`);
  for (const each of shown) print(requestText(each, flags.config));
}

function requestText(request: ShownRequest, config: string): string {
  const { id, summary, reveals, figures, since, seen, standing, terms } = request;
  const { partner, work, job, purpose } = terms;
  const repeated = seen === since ? "" : `, repeated ${shownTime(seen)}`;
  return [
    `request ${id} of ${partner}: ${work}, job ${job}, ${standing} since ${shownTime(since)}${repeated}`,
    `  ${summary}`,
    ...(purpose === "" ? [] : [`  purpose, in ${partner}'s words: ${purpose}`]),
    `  ${partner} would learn, at most:`,
    ...reveals.map((line) => `  - ${line}`),
    ...figures.map((line) => `  ${line}`),
    ...(standing === "waiting"
      ? [`  tandem approve ${id} -c ${config}`, `  tandem deny ${id} -c ${config} --reason '...'`]
      : []),
    "",
  ].join("\n");
}

function shownTime(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace("T", " ");
}

async function approve(
  id: string,
  flags: RequestFlags & { readonly uses: string; readonly days?: string },
): Promise<void> {
  const decisions = await decisionsIn(flags.config);
  const uses = wholeNumber("--uses", flags.uses, 1, usesMax);
  const days = flags.days === undefined ? undefined : wholeNumber("--days", flags.days, 1, daysMax);
  const { partner, job, until } = await decisions.approve(id, person(), { uses, days });
  const jobs = uses === 1 ? `job ${job}` : `${uses} jobs with the terms of ${job}`;
  process.stdout.write(`Approved request ${id} of ${partner}: ${jobs}, to begin before ${until.slice(0, 16)} UTC.\n`);
}

async function deny(id: string, flags: RequestFlags & { readonly reason: string }): Promise<void> {
  const decisions = await decisionsIn(flags.config);
  const { partner, job } = await decisions.deny(id, person(), flags.reason);
  process.stdout.write(`Denied request ${id} of ${partner}: job ${job}.\n`);
}

async function decisionsIn(path: string): Promise<RequestDecisions> {
  const [{ readPassiveConfig }, { openDecisions }] = await Promise.all([
    import("../../party/config/config.ts"),
    import("./request-decisions.ts"),
  ]);
  return openDecisions(await readPassiveConfig(path), path);
}

/** The operating system's user. */
function person(): Person {
  try {
    return { who: userInfo().username, via: "command" };
  } catch {
    return { who: `user ${process.getuid?.() ?? "unknown"}`, via: "command" }; // in a container it may have no name
  }
}
