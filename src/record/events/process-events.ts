/** A party's process, connections to it, and scoring with models of past jobs: not part of a job's record. */
import * as z from "zod/mini";
import { event } from "../event.ts";
import { count, instant, number, text } from "../fields.ts";
import { failed, info, warn } from "../log-line.ts";

const isOfJob = false as const;

export const processEvents = {
  listening: event(
    { process: number, port: number },
    {
      isOfJob,
      log: ({ port, process }) => info(`listening on port ${port}`, { port, process }),
      terminal: {
        of: "any",
        line: ({ party, process, port }) =>
          `${party} (process ${process}): listening on port ${port} (TLS 1.3, mutual certificates)`,
      },
    },
  ),
  /** At a passive party that dials an active one: a connection waits there, or why none does. */
  dialled: event(
    { peer: text, address: text, trouble: text },
    {
      isOfJob,
      log: ({ peer, address, trouble }) =>
        trouble === ""
          ? info(`a connection to ${peer} waits for its calls at ${address}`, { peer, address })
          : info(`no connection to ${peer} at ${address}, and another is tried every few seconds: ${trouble}`, {
              peer,
              address,
              message: trouble,
            }),
      terminal: {
        of: "any",
        line: ({ party, peer, address, trouble }) =>
          trouble === ""
            ? `${party}: a connection to ${peer} waits for its calls at ${address}`
            : `${party}: no connection to ${peer} at ${address}: ${trouble}`,
      },
    },
  ),
  refused: event(
    { peer: text, code: text, message: text },
    { isOfJob, log: ({ peer, code, message }) => failed("warn", `refused ${peer}: `, { code, message }, { peer }) },
  ),
  "turned-away": event(
    { address: text, why: text },
    {
      isOfJob,
      log: ({ address, why }) => warn(`rejected a connection from ${address}: ${why}`, { address, message: why }),
    },
  ),
  /** A certificate that this party shows, or that a partner has connected with: when it ends. */
  certificate: event(
    { of: text, partner: count, pin: count, fingerprint: text, until: instant },
    {
      isOfJob,
      log: ({ of, partner, fingerprint, until }) =>
        info(
          `${partner === 0 ? "shows" : `${of} has connected with`} the certificate ${fingerprint}, ` +
            `valid until ${new Date(until).toISOString().slice(0, 10)}`,
          { of, fingerprint, until },
        ),
    },
  ),
  /** The pins of a partner were changed while the party runs. */
  repinned: event(
    { peer: text, fingerprints: z.readonly(z.array(text)) },
    {
      isOfJob,
      log: ({ peer, fingerprints }) =>
        info(
          fingerprints.length === 0
            ? `${peer} is no longer pinned, and its connections are closed`
            : `${peer} is pinned by ${fingerprints.join(" and ")}; other connections of it are closed`,
          { peer, fingerprints },
        ),
    },
  ),
  scored: event(
    { peer: text, job: text, model: text, requestCount: count, idCount: count, unknownCount: count },
    {
      isOfJob,
      log: ({ peer, job, model, requestCount, idCount, unknownCount }) =>
        info(
          `answered ${requestCount} requests of ${peer} for scores of ${idCount} ids with the model of job ${job}; ` +
            `${unknownCount} ids were unknown`,
          { peer, job, model, requestCount, idCount, unknownCount },
        ),
    },
  ),
  /** The people who are scored have moved from those of the training, or back: how many of its own quantities. */
  drift: event(
    { job: text, model: text, people: count, largest: number, stable: count, moderate: count, large: count },
    {
      isOfJob,
      log: ({ job, model, people, largest, ...levels }) => {
        const { moderate, large } = levels;
        const what = `of the ${people} people scored last with the model of job ${job}, `;
        const facts = { job, model, people, largest, ...levels };
        const all = levels.stable + moderate + large;
        if (moderate + large === 0) return info(`${what}no score or own feature has moved since the training`, facts);
        const moved = `${moderate + large} of ${all} scores and own features have moved since the training`;
        return warn(`${what}${moved}, ${large} of them far (stability index up to ${largest.toFixed(2)})`, facts);
      },
    },
  ),
  /** Which splits share a feature was revealed, for explanations of scores. */
  explained: event(
    { peer: text, job: text, model: text, splitCount: count },
    {
      isOfJob,
      log: ({ peer, job, model, splitCount }) =>
        info(`sent ${peer} which of ${splitCount} splits of the model of job ${job} share a feature within a tree`, {
          peer,
          job,
          model,
          splitCount,
        }),
    },
  ),
  /** At a passive party: how many jobs run and wait, and the estimated memory of those that run. */
  occupancy: event({ running: count, waiting: count, bytes: number }, { isOfJob }),
  /** At a passive party: a job has to wait. */
  "job-waits": event(
    { peer: text, job: text, place: count, waiting: count },
    {
      isOfJob,
      log: ({ peer, job, place, waiting }) =>
        info(`job ${job} of ${peer} waits: place ${place} of ${waiting}`, { peer, job, place, waiting }),
    },
  ),
  /** At a passive party: a person has to approve a request. */
  "request-waits": event(
    { peer: text, job: text, request: text, work: text },
    {
      isOfJob,
      log: ({ peer, job, request, work }) =>
        warn(`request ${request} of ${peer} waits for approval: ${work}, job ${job}`, { peer, job, request, work }),
      counter: { name: "tandem_requests_total", help: "Requests that a person had to approve." },
    },
  ),
  /** At a passive party: a person has decided about a request. */
  "request-decided": event(
    { peer: text, job: text, request: text, what: text, who: text, reason: text },
    {
      isOfJob,
      log: ({ peer, job, request, what, who, reason }) =>
        info(`${who} has ${what} request ${request} of ${peer}, job ${job}${reason === "" ? "" : `: ${reason}`}`, {
          peer,
          job,
          request,
          what,
          who,
          reason,
        }),
    },
  ),
  stopping: event({}, { isOfJob, log: () => info("stopping", {}) }),
  stopped: event({}, { isOfJob, log: () => info("stopped", {}) }),
};
