/** nats-values.yaml for the engine's own chart, and a compose file for one machine. */
import { stringify } from "yaml";
import { partyRights, type Rights, workerRights } from "../../crew/nats/rights.ts";
import { partyUser, workerUser } from "../../crew/crew-name.ts";
import { crewFiles, type CrewFacts, imageName, mounted } from "./crew-names.ts";

/** Values of the chart nats/nats, from 1.0 on: three servers with disks, and the crew's account. */
export function helmValuesText({ crew }: CrewFacts): string {
  const { server, authority } = crewFiles;
  const secretName = `tandem-${crew}-engine`;
  const values = {
    config: {
      cluster: { enabled: true, replicas: 3 },
      jetstream: {
        enabled: true,
        fileStore: { enabled: true, pvc: { enabled: true, size: "64Gi" } },
        memoryStore: { enabled: true, maxSize: "4Gi" },
      },
      nats: { tls: { enabled: true, secretName, merge: { verify_and_map: true, timeout: 5 } } },
      merge: {
        accounts: {
          [`tandem-${crew}`]: {
            jetstream: "enabled",
            users: [
              { user: partyUser(crew), permissions: permissionsOf(partyRights(crew)) },
              { user: workerUser(crew), permissions: permissionsOf(workerRights(crew)) },
            ],
          },
        },
      },
    },
    tlsCA: { enabled: true, secretName },
    natsBox: { enabled: false },
  };
  return `# Where there is no NATS yet: helm install nats nats/nats -f ${crewFiles.helmValues}
# Its certificate first; nothing here is secret, and crew.key is not for it:
#   kubectl create secret generic ${secretName} --from-file=tls.crt=${server.certificate} \\
#     --from-file=tls.key=${server.key} --from-file=ca.crt=${authority}
# With three servers, say replicas: 3 under crew: in the party's config.
${stringify(values, { lineWidth: 0 })}`;
}

function permissionsOf({ publish, subscribe }: Rights): object {
  return { publish: { allow: [...publish] }, subscribe: { allow: [...subscribe] } };
}

/** On one machine, with its network: the engine and two workers. */
export function composeText({ crew, version }: CrewFacts): string {
  const { serverConfig, server, authority, worker, workerConfig, secret, blocks } = crewFiles;
  const access = [workerConfig, worker.certificate, worker.key, authority, secret];
  const file = {
    name: `tandem-${crew}`,
    services: {
      engine: {
        image: "nats:2.11-alpine",
        command: ["-c", serverConfig],
        working_dir: "/engine",
        network_mode: "host",
        restart: "unless-stopped",
        volumes: [
          ...[serverConfig, server.certificate, server.key, authority].map((name) => `./${name}:/engine/${name}:ro`),
          "engine:/engine/jetstream",
        ],
      },
      worker: {
        image: `${imageName}:${version}`,
        command: ["worker", "-c", `${mounted.access}/${workerConfig}`],
        network_mode: "host",
        restart: "unless-stopped",
        // The files are their owner's alone.
        user: "${UID:-1000}",
        deploy: { replicas: 2 },
        volumes: [
          ...access.map((name) => `./${name}:${mounted.access}/${name}:ro`),
          `./${blocks}:${mounted.access}/${blocks}:ro`,
        ],
      },
    },
    volumes: { engine: {} },
  };
  return `# One machine: docker compose -f ${crewFiles.compose} up. The image is yours: one of Node with Tandem in it.
${stringify(file, { lineWidth: 0 })}`;
}
