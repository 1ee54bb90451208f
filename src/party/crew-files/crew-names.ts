/** Names of the files of a crew, and of what platforms call its parts. */
export const crewFiles = {
  authority: "ca.pem",
  server: { certificate: "server.pem", key: "server.key" },
  party: { certificate: "party.pem", key: "party.key" },
  worker: { certificate: "worker.pem", key: "worker.key" },
  secret: "crew.key",
  serverConfig: "nats.conf",
  partyConfig: "crew.yaml",
  workerConfig: "worker.yaml",
  kubernetes: "kubernetes.yaml",
  compose: "compose.yaml",
  helmValues: "nats-values.yaml",
  blocks: "blocks",
} as const;

/** Where a container finds its files. */
export const mounted = { access: "/etc/tandem", blocks: "/blocks" } as const;

/** Name of the container image; the user builds and names it. */
export const imageName = "tandem";

export interface CrewFacts {
  readonly crew: string;
  /** As in `tls://nats-0:4222`. */
  readonly servers: readonly string[];
  /** Where the party listens for its workers. */
  readonly listen: { readonly host: string; readonly port: number };
  /** Of Tandem. */
  readonly version: string;
  /** Its party has the labels: its workers do tasks, and hold no blocks. */
  readonly isActive: boolean;
}
