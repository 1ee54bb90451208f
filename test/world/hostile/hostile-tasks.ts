/** What an active party does in a job of a campaign, with a result that two undisturbed runs have in common. */
import { join } from "node:path";
import { resolveParameters, servingParameters } from "../../../src/base/parameters/parameters.ts";
import { searchSchedule } from "../../../src/gbdt/tune/schedule.ts";
import { drawTrials } from "../../../src/gbdt/tune/search-space.ts";
import { TandemError, type ErrorCode } from "../../../src/base/error.ts";
import { runCrossValidation } from "../../../src/party/active/cross-validation.ts";
import { runActive } from "../../../src/party/active/run.ts";
import { runTuning } from "../../../src/party/active/tuning.ts";
import type { ActiveWorld } from "../../../src/party/active/world.ts";
import type { ActiveConfig } from "../../../src/party/config/config.ts";
import { readPartyTable } from "../../../src/party/tables/party-data.ts";
import type { Emit } from "../../../src/record/events.ts";
import { startServer } from "../../../src/scoring/http/run-serve.ts";
import { askedRows, inputData } from "../../../src/scoring/run-predict.ts";
import { Scorer } from "../../../src/scoring/scorer.ts";
import { predictionWanted } from "../../../src/scoring/wanted.ts";
import { readActiveShare } from "../../../src/store/share-files.ts";
import type { ScoringPeer } from "../../../src/wire/scoring-peer.ts";

export type Task = "train" | "cv" | "tune" | "predict" | "contributions" | "serve";

export interface Means {
  readonly world: ActiveWorld;
  readonly emit: Emit;
  /** The folder of the model that is asked for scores. */
  readonly model: string;
  /** How long a passive party may be lost while scores are asked for; with an honest one a busy machine takes long. */
  readonly patienceMs: number;
  /** The connection for scores; left out: the product's own. */
  readonly scoring?: ScoringPeer;
}

/** Patience with a party that is hostile, and with one that is not. */
export const [shortMs, longMs] = [20_000, 600_000] as const;

/** Whether the task needs a model that was trained before. */
export function isScoring(task: Task): boolean {
  return task === "predict" || task === "contributions" || task === "serve";
}

/** @returns what must be equal in every job that ends well @throws TandemError */
export async function perform(task: Task, config: ActiveConfig, means: Means): Promise<unknown> {
  const { emit, world } = means;
  switch (task) {
    case "train":
      await runActive(config, emit, world);
      return (await readActiveShare(join(config.output.directory, config.job.name, "share.json"))).trees;
    case "cv":
      return (await runCrossValidation(config, { folds: 2 }, emit, world)).history;
    case "tune":
      return tuned(config, means);
    case "predict":
    case "contributions":
      return scored(task, config, means);
    case "serve":
      return served(config, means);
  }
}

async function tuned(config: ActiveConfig, { emit, world }: Means): Promise<unknown> {
  const { training } = config.job;
  const space = { eta: { values: [0.1, 0.3] }, max_depth: { values: [1, 2] } };
  const trials = drawTrials(training, space, 3);
  const schedule = searchSchedule("halving", trials.length, training.num_round);
  const { job: _job, ...outcome } = await runTuning(config, { trials, space, schedule, folds: 2 }, emit, world);
  return outcome;
}

async function scored(task: "predict" | "contributions", config: ActiveConfig, means: Means): Promise<unknown> {
  const share = await readActiveShare(join(means.model, "share.json"));
  const { scoring } = means;
  const scorer = scoring === undefined ? await Scorer.connect(config, share) : new Scorer(share, [scoring]);
  try {
    const { path = "" } = config.data;
    const data = inputData(config.data, scorer);
    const { ids, columns } = askedRows(scorer, await readPartyTable({ path }, data, null, { text: "as trained" }));
    const kind = task === "predict" ? "prediction" : "contributions";
    const { predictions, unknown } = await scorer.score(
      { ids: [...ids], columns },
      {
        wanted: { ...predictionWanted, kind },
        sendsContributions: config.tell_contributions,
        unknownAsMissing: false,
        timeoutMs: means.patienceMs,
      },
    );
    if (unknown.size > 0) throw new TandemError("ID_UNKNOWN", "a party says that it does not hold an id");
    return [...predictions];
  } finally {
    scorer.close();
  }
}

interface Failed {
  readonly error?: { readonly code: string; readonly message: string };
}

/** To a whole request, or to one row of it. */
type Answer = Failed & { readonly predictions?: readonly Failed[] };

/** Two requests over HTTP: the second one shows whether the server survived the first. */
async function served(config: ActiveConfig, { emit, model, patienceMs }: Means): Promise<unknown> {
  const server = await startServer(
    config,
    {
      model,
      host: "127.0.0.1",
      port: 0,
      token: null,
      insecureWithoutToken: false,
      unknownAsMissing: false,
      version: "0",
      parameters: resolveParameters(servingParameters, { timeout_ms: patienceMs }),
    },
    emit,
  );
  try {
    const answers: unknown[] = [];
    for (const ids of [["zq1000x", "zq1001x"], ["zq1002x"]]) {
      const body = JSON.stringify({ ids });
      const headers = { "content-type": "application/json" };
      const response = await fetch(`http://127.0.0.1:${server.port}/predict`, { method: "POST", headers, body });
      const answer = (await response.json()) as Answer;
      const { error } = [answer, ...(answer.predictions ?? [])].find((part) => part.error !== undefined) ?? {};
      if (error !== undefined) throw new TandemError(error.code as ErrorCode, error.message);
      answers.push(answer.predictions);
    }
    return answers;
  } finally {
    await server.close();
  }
}
