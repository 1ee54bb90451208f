/** One attempt at a job of a passive party: its role, its service, and what is stored at the end. */
import { PackedTexts } from "../../base/text/packed-texts.ts";
import { TextIndex } from "../../base/text/text-index.ts";
import { categoryNamesPerFeature, type PartyTable } from "../../data/dataset.ts";
import type { Traffic } from "../../messages/tally.ts";
import { modelId } from "../../protocol/model-id.ts";
import { recordedAnswers } from "../../protocol/passive/recorded-answers.ts";
import { type PassiveJob, PassiveRole } from "../../protocol/passive/role.ts";
import { ProcessMeter } from "../../record/process-meter.ts";
import { ProgressSampler } from "../../record/progress-sampler.ts";
import { schemeNamed } from "../../scheme/registry.ts";
import { maskedMark } from "../../store/share-files.ts";
import { type PassiveEnd, passiveService, type PassiveService } from "../../transport/passive-service.ts";
import { noTranscript } from "../../record/transcript-file.ts";
import { featureReferences } from "../model/reference.ts";
import { schemeSeedOf } from "../scheme-seed.ts";
import { committedTo } from "./admitted-job.ts";
import { beginTranscript, noteSplits } from "./job-transcript.ts";
import { keepColumnNumbers } from "./vetted-columns.ts";
import { JobEvents, type PassiveJobOptions } from "./job-events.ts";

export interface OpenedJob {
  readonly service: PassiveService;
  /** Settles with the result. */
  readonly report: (end: PassiveEnd) => void;
}

export function openPassiveJob(options: PassiveJobOptions): OpenedJob {
  const { config, agreed, rows, digests, checkpoints, peer, spending, evidence, emit, crew } = options;
  const { name } = config;
  const { job } = agreed;
  const seed = schemeSeedOf(checkpoints.permutationSecret);
  const scheme = schemeNamed(agreed.scheme).passive({ ...config, seed, crew });
  const meter = new ProcessMeter();
  const model = modelId(agreed, rows.training.ids.length, digests.ids);
  const bytes = (): Readonly<Record<string, Traffic>> => ({ [peer]: role.tally.traffic });
  const sampler = new ProgressSampler({ party: name, decides: false, bytes, emit });
  const events = new JobEvents(options);
  let transcript = noTranscript;
  const role: PassiveRole = new PassiveRole({
    ...roleJob(options, model),
    scheme,
    observer: {
      joined: () => events.joined(),
      roundBegan: () => meter.start(),
      alarm: (words) => emit({ type: "alarm", party: name, peer, words }),
      phase: sampler.edge,
      observed: (observation) => {
        spending.see(observation);
        if (agreed.vetting && observation.kind === "sums") events.vetted();
        transcript.observed(peer, observation);
      },
      treeFinished: (tree, splits) => {
        meter.stop();
        sampler.treeEnded();
        events.treeFinished(tree, splits, role.tally.ledger, scheme.counts);
      },
    },
  });
  const service = passiveService(
    role.answers,
    {
      begin: async () => {
        await checkpoints.begin();
        await evidence.begin();
        transcript = beginTranscript(options);
      },
      finish: async () => {
        const mark = maskedMark(agreed.defences);
        const splits = role.ownSplits;
        if (agreed.vetting) {
          await keepColumnNumbers(checkpoints, options.columns);
          await checkpoints.finish(null);
        } else {
          const reference = { model, scores: [], features: featureReferences(rows.training, splits) };
          await checkpoints.finish({ share: { name, job, model, ...mark, active: peer, splits }, reference });
        }
        await spending.finished();
        noteSplits(transcript, options.features, role.ownSplits);
      },
    },
    recordedAnswers(evidence),
  );
  const report = ({ failure }: PassiveEnd): void => {
    scheme.close?.();
    sampler.stop();
    transcript.close();
    const kept = role.treesKept === null ? {} : { trees: role.treesKept };
    events.ended(failure, role.tally.ledger, { ...meter.use, ...kept, counts: scheme.counts });
  };
  return { service, report };
}

/** The role's input: the party's rows, and the progress of earlier attempts. */
function roleJob(options: PassiveJobOptions, model: string): Omit<PassiveJob, "scheme" | "observer"> {
  const { config, agreed, rows, checkpoints, spending } = options;
  const { training, predictable } = rows;
  const names = categoryNamesPerFeature(training);
  let treesStored = checkpoints.progress.trees;
  const start = checkpoints.start.map((split) => ({
    split,
    values: training.features[split.feature],
    names: names[split.feature],
  }));
  return {
    ...committedTo(options),
    agreed,
    columns: options.columns,
    ...(agreed.startModel === "" ? {} : { start }),
    progress: checkpoints.progress,
    finished: checkpoints.isFinished,
    store: async (progress) => {
      await checkpoints.store(progress);
      // Until then the tree counts with the most that it can take.
      if (progress.trees > treesStored) await spending.treeEnds(progress.trees);
      treesStored = progress.trees;
    },
    roundStore: checkpoints.rounds,
    nodeJournal: checkpoints.nodes,
    admitScores: (people) => spending.score(people),
    admitQuestions: (asked) =>
      "ids" in asked
        ? spending.questions(model, asked.ids)
        : spending.questions(agreed.startModel, idsBetween(training, asked.first, asked.count)),
    admitNode: () => spending.node(),
    admitRound: (tree) => spending.roundBegins(tree),
    sampleMin: config.policy.min_instances_per_tree,
    lookUp: rowLookUp(predictable),
    testRowsMax: predictable.ids.length,
    categoryNames: categoryNamesPerFeature(predictable),
  };
}

function idsBetween({ ids }: PartyTable, first: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) => ids.at(first + i) ?? "");
}

function rowLookUp(table: PartyTable): (id: string) => ((feature: number) => number) | null {
  const index = new TextIndex(PackedTexts.from(table.ids));
  return (id) => {
    const row = index.indexOf(id);
    return row === -1 ? null : (feature) => table.features[feature][row];
  };
}
