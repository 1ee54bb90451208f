/**
 * Folds the public events of a job into its view, one by one. The same events always give the same view: on a page that
 * is loaded again in the middle, and in a report that is made years later.
 *
 * Events may be missing, in a job of an older version or one that was stopped. Their fields then stay empty.
 *
 * Runs in browsers too: nothing of Node is used here.
 */
import { emptyLedger, type Ledger, type LedgerName } from "../privacy/ledger.ts";
import type { Phase } from "../protocol/phase.ts";
import type { JobEvent, LayoutSummary, Metrics, PartyEvent, PhaseSpan } from "./events.ts";
import { withCrewEvent } from "./crew-view.ts";
import { withRoundEvent } from "./redone-rounds.ts";
import { hasEventShape } from "./event-shapes.ts";
import { emptyJobView, type PartyView, type JobView } from "./job-view.ts";

const alarmsShown = 10;

type Stamped = PartyEvent & { readonly at: number };

export function jobView(events: readonly Stamped[]): JobView {
  const view = emptyJobView();
  for (const event of events) addEvent(view, event);
  return view;
}

/** Whether a line of a record can be taken into a view. */
export function isStampedEvent(value: unknown): value is Stamped {
  return hasEventShape(value);
}

/** Takes one more event into a view. Events of kinds that this version does not know change nothing. */
export function addEvent(view: JobView, event: Stamped): void {
  if (view.startedAt === 0) view.startedAt = event.at;
  view.lastAt = event.at;
  if (view.party === "") view.party = event.party;
  view.roundsSoFar = withRoundEvent(view.roundsSoFar, event);
  view.crew = withCrewEvent(view.crew, event);
  switch (event.type) {
    case "job":
      return begin(view, event);
    case "data":
      view.data = event.data;
      return;
    case "key":
      view.kernel = event.kernel;
      return;
    case "aligning":
      view.state = "aligning";
      return;
    case "alignment-progress":
      view.alignment = { ...view.alignment, done: event.done, total: event.total };
      return;
    case "aligned":
      view.alignment = { done: 1, total: 1, commonCount: event.commonCount };
      return;
    case "joined":
      return joined(view, event.peer, event.featureCount);
    case "resolution":
      view.parameters = { ...view.parameters, resolution_bits: event.resolutionBits };
      return;
    case "layout":
      view.layout = layoutOf(event.layout);
      training(view, event.at);
      return;
    case "progress":
      training(view, event.at);
      return progress(view, event);
    case "tree":
      addRound(view, event);
      return treeDone(view, event);
    case "passive-tree":
      return treeDone(view, event);
    case "ledger":
      view.ledgers.set(event.peer, addedLedgers(view.earlierLedgers.get(event.peer) ?? emptyLedger(), event.ledger));
      return;
    case "budget":
      view.budget = { peer: event.peer, spent: event.spent, limits: event.limits, today: event.today };
      return;
    case "alarm":
      return alarmed(view, event.peer, event.words);
    case "waiting":
      return waiting(view, event.message);
    case "resumed":
      view.treesDone = event.trees;
      return;
    case "active-result":
      view.result = event.result;
      return end(view, "finished");
    case "passive-result":
      view.passiveResult = event.result;
      return;
    case "job-ended":
      view.failure = event.failure;
      return end(view, event.failure === null ? "finished" : "failed");
    case "error":
      view.failure = { code: event.code, message: event.message };
      return end(view, "failed");
    default:
      return;
  }
}

function begin(view: JobView, event: JobEvent): void {
  if (view.job !== "") view.resumed++;
  view.party = event.party;
  view.role = event.role;
  view.job = event.job;
  view.peers = [...event.peers];
  view.treeCount = event.treeCount;
  view.treesDone = Math.max(view.treesDone, event.startTrees ?? 0);
  view.depthMax = event.depthMax;
  view.parameters = event.parameters;
  view.versions = event.versions;
  view.warning = event.warning ?? null;
  view.hidesMembers = event.hidesMembers ?? false;
  if (view.state !== "aligning") view.state = "starting";
  view.failure = null;
  const other = event.role === "active" ? "passive" : "active";
  view.parties = [
    partyView(event.party, event.role, true),
    ...event.peers.map((name) => view.parties.find((party) => party.name === name) ?? partyView(name, other, false)),
  ];
}

function partyView(name: string, role: PartyView["role"], self: boolean): PartyView {
  return { name, role, self, connected: self, doing: null, featureCount: null, sentBytes: 0, receivedBytes: 0 };
}

/** Every attempt may say it again. */
function alarmed(view: JobView, peer: string, words: string): void {
  if (view.alarms.length < alarmsShown && !view.alarms.some((alarm) => alarm.peer === peer && alarm.words === words))
    view.alarms = [...view.alarms, { peer, words }];
}

/** All connections are given up at once. */
function waiting(view: JobView, message: string): void {
  view.waiting = message;
  for (const party of view.parties) {
    party.connected = party.self;
    party.doing = null;
  }
}

/** What is the same in every attempt: a party's candidates, and that they are linked. */
const oncePerJob: ReadonlySet<LedgerName> = new Set(["candidates", "candidateLinks"]);

/** Each attempt counts from zero. A record of an earlier version may lack an entry. */
function addedLedgers(earlier: Ledger, present: Ledger): Ledger {
  const sum = { ...emptyLedger(), ...present };
  for (const name of Object.keys(sum) as LedgerName[]) if (!oncePerJob.has(name)) sum[name] += earlier[name];
  return sum;
}

/** At a passive party the event tells how many of its own features take part. */
function joined(view: JobView, peer: string, featureCount: number): void {
  view.waiting = null;
  const soFar = view.ledgers.get(peer);
  if (soFar !== undefined) view.earlierLedgers.set(peer, soFar);
  for (const party of view.parties) {
    if (party.name === peer) party.connected = true;
    if (party.name === (view.role === "active" ? peer : view.party)) party.featureCount = featureCount;
  }
}

function training(view: JobView, at: number): void {
  view.state = "training";
  view.trainingStartedAt ??= at;
}

function progress(view: JobView, event: Extract<PartyEvent, { type: "progress" }>): void {
  view.level = event.level;
  for (const span of event.spans) addSpan(view, span);
  const flow = { sent: 0, received: 0 };
  for (const [peer, bytes] of Object.entries(event.bytes)) {
    const [out, back] =
      view.role === "active"
        ? [bytes.activeToPassive, bytes.passiveToActive]
        : [bytes.passiveToActive, bytes.activeToPassive];
    flow.sent += out;
    flow.received += back;
    const party = view.parties.find(({ name }) => name === peer);
    if (party !== undefined) [party.sentBytes, party.receivedBytes] = [back, out];
  }
  for (const party of view.parties) {
    party.doing = event.doing[party.name] ?? null;
    if (party.self) [party.sentBytes, party.receivedBytes] = [flow.sent, flow.received];
  }
}

function addSpan(view: JobView, span: PhaseSpan): void {
  const byPhase = view.totals.get(span.party) ?? new Map<Phase, number>();
  byPhase.set(span.phase, (byPhase.get(span.phase) ?? 0) + span.to - span.from);
  view.totals.set(span.party, byPhase);
  const { current } = view.spans;
  if (current.length > 0 && span.tree > current[0].tree) view.spans = { previous: current, current: [span] };
  else if (current.length === 0 || span.tree === current[0].tree) current.push(span);
}

/** A tree that is grown again replaces its first attempt and whatever came after it. */
function addRound(view: JobView, event: Stamped & { readonly type: "tree" }): void {
  view.rounds = [
    ...view.rounds.filter(({ tree }) => tree < event.tree),
    { tree: event.tree, at: event.at, train: event.metrics, validation: validationOf(event) },
  ];
}

function treeDone(view: JobView, event: Stamped & { readonly type: "tree" | "passive-tree" }): void {
  const { tree, treeCount, at } = event;
  training(view, at);
  view.counts = event.counts ?? view.counts;
  view.treesDone = tree + 1;
  view.level = 0;
  view.treeCount = treeCount;
  view.treeEnds = [...view.treeEnds.slice(0, tree), at];
}

function end(view: JobView, state: "finished" | "failed"): void {
  view.state = state;
  for (const party of view.parties) {
    party.doing = null;
    if (!party.self) party.connected = false;
  }
}

/** Metrics of rows that are not trained on; only some jobs have them. */
function validationOf(event: object): Metrics | null {
  const { validation } = event as { readonly validation?: Metrics };
  return validation ?? null;
}

/** Records of version 0.1 have the size of the Paillier key instead of what follows from it. */
function layoutOf(layout: LayoutSummary & { readonly keyBits?: number }): LayoutSummary {
  const { keyBits } = layout;
  if (keyBits === undefined) return layout;
  return { ...layout, scheme: "paillier", plaintextBitsMax: keyBits - 1, ciphertextBytes: keyBits / 4 };
}
