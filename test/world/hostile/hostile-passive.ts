/** A hostile passive party: an honest one behind real TLS, some of whose answers are changed on their way out. */
import type { ConnectRouter } from "@connectrpc/connect";
import type { PassiveConfig } from "../../../src/party/config/config.ts";
import { readIdentity } from "../../../src/party/identity.ts";
import { JobAdmission } from "../../../src/party/passive/admission.ts";
import { PassiveScoring } from "../../../src/scoring/passive-scoring.ts";
import { diagnosisRoutes } from "../../../src/transport/diagnosis-service.ts";
import { partyRoutes } from "../../../src/transport/party-service.ts";
import { scoringRoutes } from "../../../src/transport/scoring-service.ts";
import { listenTls } from "../../../src/transport/tls-listen.ts";
import { type HostileAnswers, hostileRouter } from "./hostile-answers.ts";

export interface HostilePassive {
  readonly port: number;
  /** How the next job is answered; null: as it should be. */
  answers: HostileAnswers | null;
  close(): Promise<void>;
}

/** What stands between a passive party and the wire. */
export type Between = (router: ConnectRouter) => ConnectRouter;

/** @param config of an ordinary passive party */
export async function startHostilePassive(config: PassiveConfig): Promise<HostilePassive> {
  const state: { answers: HostileAnswers | null } = { answers: null };
  const server = await servePassive(config, (router) => hostileRouter(router, () => state.answers));
  return Object.assign(state, server);
}

/** A passive party in this process, behind real TLS. */
export async function servePassive(config: PassiveConfig, between: Between): Promise<Omit<HostilePassive, "answers">> {
  const admission = new JobAdmission(
    config,
    () => {},
    () => {},
  );
  await admission.load();
  const scoring = new PassiveScoring(config, admission.data, () => {}, admission.budgets);
  const { name } = config;
  const routes = [
    partyRoutes(admission),
    scoringRoutes(scoring),
    diagnosisRoutes({ name, checkTable: (training, caller) => admission.checkTable(training, caller) }),
  ];
  const server = await listenTls(
    { routes: (router) => routes.forEach((add) => add(between(router))) },
    await readIdentity(config.tls),
    config.active.map(({ name, fingerprint }) => ({ name, fingerprints: fingerprint })),
    config.listen ?? null,
  );
  return {
    port: server.port,
    async close() {
      await server.close();
      await scoring.close();
    },
  };
}
