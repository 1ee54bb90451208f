/** kubernetes.yaml: a Secret, a Deployment of workers, and a budget for their disruption. */
import { stringify } from "yaml";
import { crewFiles, type CrewFacts, imageName, mounted } from "./crew-names.ts";
import { containerWorkerText } from "./worker-text.ts";

export interface WorkerSecrets {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
  readonly secret: string;
}

const userId = 1000;

export function kubernetesText(facts: CrewFacts, secrets: WorkerSecrets): string {
  const documents = [secretOf(facts, secrets), deploymentOf(facts), budgetOf(facts)];
  return `# Workers of ${facts.crew} on Kubernetes: kubectl apply -f ${crewFiles.kubernetes}; kubectl scale at any time.
# THIS FILE HOLDS SECRETS IN PLAIN (base64 hides nothing): the workers' key and crew.key. Keep it as you keep those, out
# of version control; or let your own tool make the Secret, and remove it here.
# It was made for an engine at ${facts.servers.join(", ")}; another one needs 'tandem init crew --host' once more.
# Put in: the image, where your registry has it${
    facts.isActive ? "" : "; the claim with the party's blocks, which the party mounts as well"
  }.
${documents.map((document) => stringify(document, { lineWidth: 0 })).join("---\n")}`;
}

function labelsOf(crew: string): Readonly<Record<string, string>> {
  return { "app.kubernetes.io/name": "tandem-worker", "app.kubernetes.io/instance": crew };
}

function metadataOf(crew: string): object {
  return { name: `tandem-${crew}-worker`, labels: labelsOf(crew) };
}

function secretOf(facts: CrewFacts, { certificate, key, authority, secret }: WorkerSecrets): object {
  const { worker } = crewFiles;
  const contents = {
    [crewFiles.workerConfig]: containerWorkerText(facts),
    [worker.certificate]: certificate,
    [worker.key]: key,
    [crewFiles.authority]: authority,
    [crewFiles.secret]: secret,
  };
  const data = Object.fromEntries(
    Object.entries(contents).map(([name, text]) => [name, Buffer.from(text).toString("base64")]),
  );
  return { apiVersion: "v1", kind: "Secret", metadata: metadataOf(facts.crew), type: "Opaque", data };
}

function claimOf(crew: string): object {
  return { name: "blocks", persistentVolumeClaim: { claimName: `tandem-${crew}-blocks`, readOnly: true } };
}

function deploymentOf({ crew, version, isActive }: CrewFacts): object {
  const blocks = { mount: { name: "blocks", mountPath: mounted.blocks, readOnly: true }, claim: claimOf(crew) };
  const container = {
    name: "worker",
    image: `${imageName}:${version}`,
    args: ["worker", "-c", `${mounted.access}/${crewFiles.workerConfig}`],
    resources: { requests: { cpu: "4", memory: "16Gi" }, limits: { memory: "16Gi" } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
    volumeMounts: [{ name: "access", mountPath: mounted.access, readOnly: true }, ...(isActive ? [] : [blocks.mount])],
  };
  const podSpec = {
    automountServiceAccountToken: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: userId,
      runAsGroup: userId,
      fsGroup: userId,
      seccompProfile: { type: "RuntimeDefault" },
    },
    // SIGTERM gives blocks back; that takes a moment.
    terminationGracePeriodSeconds: 30,
    containers: [container],
    volumes: [
      { name: "access", secret: { secretName: `tandem-${crew}-worker`, defaultMode: 0o440 } },
      ...(isActive ? [] : [blocks.claim]),
    ],
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: metadataOf(crew),
    spec: {
      replicas: 2,
      selector: { matchLabels: labelsOf(crew) },
      template: { metadata: { labels: labelsOf(crew) }, spec: podSpec },
    },
  };
}

function budgetOf({ crew }: CrewFacts): object {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: metadataOf(crew),
    spec: { maxUnavailable: 1, selector: { matchLabels: labelsOf(crew) } },
  };
}
