/**
 * Shapes of what platforms read, as far as we write it: every field by its name and type, and no other. Written down
 * from the reference of Kubernetes' API (v1, apps/v1, policy/v1), of the compose specification and of the chart
 * nats/nats.
 */
import * as z from "zod";

const labels = z.record(z.string(), z.string().max(63));
const metadata = z.strictObject({ name: z.string().max(63), labels });
const selector = z.strictObject({ matchLabels: labels });
const quantity = z.string().regex(/^[0-9]+(?:m|Mi|Gi)?$/);
const resources = z.strictObject({ cpu: quantity.optional(), memory: quantity });
const base64 = z.base64();

const container = z.strictObject({
  name: z.string(),
  image: z.string().regex(/^[a-z0-9./-]+:[\w.-]+$/),
  args: z.array(z.string()),
  resources: z.strictObject({ requests: resources, limits: resources }),
  securityContext: z.strictObject({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.strictObject({ drop: z.tuple([z.literal("ALL")]) }),
  }),
  volumeMounts: z.array(z.strictObject({ name: z.string(), mountPath: z.string(), readOnly: z.literal(true) })),
});

const volume = z.strictObject({
  name: z.string(),
  secret: z.strictObject({ secretName: z.string(), defaultMode: z.literal(0o440) }).optional(),
  persistentVolumeClaim: z.strictObject({ claimName: z.string(), readOnly: z.literal(true) }).optional(),
});

const podSpec = z.strictObject({
  automountServiceAccountToken: z.literal(false),
  securityContext: z.strictObject({
    runAsNonRoot: z.literal(true),
    runAsUser: z.int().positive(),
    runAsGroup: z.int().positive(),
    fsGroup: z.int().positive(),
    seccompProfile: z.strictObject({ type: z.literal("RuntimeDefault") }),
  }),
  terminationGracePeriodSeconds: z.int(),
  containers: z.array(container),
  volumes: z.array(volume),
});

export const kubernetesShapes = {
  Secret: z.strictObject({
    apiVersion: z.literal("v1"),
    kind: z.literal("Secret"),
    metadata,
    type: z.literal("Opaque"),
    data: z.record(z.string(), base64),
  }),
  Deployment: z.strictObject({
    apiVersion: z.literal("apps/v1"),
    kind: z.literal("Deployment"),
    metadata,
    spec: z.strictObject({
      replicas: z.int(),
      selector,
      template: z.strictObject({ metadata: z.strictObject({ labels }), spec: podSpec }),
    }),
  }),
  PodDisruptionBudget: z.strictObject({
    apiVersion: z.literal("policy/v1"),
    kind: z.literal("PodDisruptionBudget"),
    metadata,
    spec: z.strictObject({ maxUnavailable: z.int(), selector }),
  }),
} as const;

const service = z.strictObject({
  image: z.string(),
  command: z.array(z.string()),
  working_dir: z.string().optional(),
  network_mode: z.literal("host"),
  restart: z.literal("unless-stopped"),
  user: z.string().optional(),
  deploy: z.strictObject({ replicas: z.int() }).optional(),
  volumes: z.array(z.string().regex(/^[./\w-]+:\/[./\w-]+(?::ro)?$/)),
});

export const composeShape = z.strictObject({
  name: z.string(),
  services: z.record(z.string(), service),
  volumes: z.record(z.string(), z.strictObject({})),
});

const allow = z.strictObject({ allow: z.array(z.string()).min(1) });
const user = z.strictObject({ user: z.string(), permissions: z.strictObject({ publish: allow, subscribe: allow }) });

export const helmShape = z.strictObject({
  config: z.strictObject({
    cluster: z.strictObject({ enabled: z.boolean(), replicas: z.int() }),
    jetstream: z.strictObject({
      enabled: z.boolean(),
      fileStore: z.strictObject({
        enabled: z.boolean(),
        pvc: z.strictObject({ enabled: z.boolean(), size: quantity }),
      }),
      memoryStore: z.strictObject({ enabled: z.boolean(), maxSize: quantity }),
    }),
    nats: z.strictObject({
      tls: z.strictObject({
        enabled: z.boolean(),
        secretName: z.string(),
        merge: z.strictObject({ verify_and_map: z.literal(true), timeout: z.int() }),
      }),
    }),
    merge: z.strictObject({
      accounts: z.record(z.string(), z.strictObject({ jetstream: z.literal("enabled"), users: z.array(user) })),
    }),
  }),
  tlsCA: z.strictObject({ enabled: z.boolean(), secretName: z.string() }),
  natsBox: z.strictObject({ enabled: z.boolean() }),
});
