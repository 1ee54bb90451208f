/**
 * What the platforms themselves accept, from their public specifications: Kubernetes' API (v1, apps/v1, policy/v1) and
 * the compose specification. Of each kind that we write all fields are here by name, with types where we use them;
 * whatever else stands in a document is refused, as by a server with strict validation.
 */
import { all, fields, flag, listOf, mapOf, type Rule, text, whole, words } from "./field-rules.ts";

const int32 = (min = 0): Rule => whole(min, 2 ** 31 - 1);
const int64 = whole(0, Number.MAX_SAFE_INTEGER);
/** RFC 1123: a label, and a subdomain. */
const label = text(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/);
const subdomain = text(/^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/);
const labelName = /^(?:[a-z0-9.-]{1,253}\/)?[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/;
const labels = mapOf(labelName, text(/^(?:[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?)?$/));
const quantity = text(/^[0-9]+(?:\.[0-9]+)?(?:m|k|M|G|T|Ki|Mi|Gi|Ti)?$/);
const quantities = mapOf(/^(?:cpu|memory|ephemeral-storage|[a-z0-9.-]+\/[\w.-]+)$/, quantity);
const absolutePath = text(/^\/[^:]*$/);

const metaOthers =
  "annotations creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generateName " +
  "generation managedFields namespace ownerReferences resourceVersion selfLink uid";
const metadata = fields({ required: { name: subdomain }, optional: { labels }, others: metaOthers });
const podMetadata = fields({ optional: { name: subdomain, labels }, others: metaOthers });
const selector = fields({ optional: { matchLabels: labels }, others: "matchExpressions" });

const seccompProfile = fields({
  required: { type: words("RuntimeDefault", "Unconfined", "Localhost") },
  others: "localhostProfile",
});

const container = fields({
  required: { name: label },
  optional: {
    image: text(/^[a-z0-9][\w./:@-]*$/),
    args: listOf(text()),
    resources: fields({ optional: { limits: quantities, requests: quantities }, others: "claims" }),
    securityContext: fields({
      optional: {
        allowPrivilegeEscalation: flag,
        readOnlyRootFilesystem: flag,
        runAsNonRoot: flag,
        capabilities: fields({ optional: { drop: listOf(text()) }, others: "add" }),
      },
      others: "appArmorProfile privileged procMount runAsGroup runAsUser seLinuxOptions seccompProfile windowsOptions",
    }),
    volumeMounts: listOf(
      fields({
        required: { name: label, mountPath: absolutePath },
        optional: { readOnly: flag },
        others: "mountPropagation recursiveReadOnly subPath subPathExpr",
      }),
    ),
  },
  others:
    "command env envFrom imagePullPolicy lifecycle livenessProbe ports readinessProbe resizePolicy " +
    "restartPolicy restartPolicyRules startupProbe stdin stdinOnce terminationMessagePath " +
    "terminationMessagePolicy tty volumeDevices workingDir",
});

const volume = fields({
  required: { name: label },
  optional: {
    secret: fields({
      optional: { secretName: subdomain, defaultMode: whole(0, 0o777), optional: flag },
      others: "items",
    }),
    persistentVolumeClaim: fields({ required: { claimName: subdomain }, optional: { readOnly: flag } }),
  },
  others:
    "awsElasticBlockStore azureDisk azureFile cephfs cinder configMap csi downwardAPI emptyDir ephemeral fc " +
    "flexVolume flocker gcePersistentDisk gitRepo glusterfs hostPath image iscsi nfs photonPersistentDisk " +
    "portworxVolume projected quobyte rbd scaleIO storageos vsphereVolume",
});

const podSpec = fields({
  required: { containers: listOf(container) },
  optional: {
    automountServiceAccountToken: flag,
    terminationGracePeriodSeconds: int64,
    volumes: listOf(volume),
    securityContext: fields({
      optional: { runAsNonRoot: flag, runAsUser: int64, runAsGroup: int64, fsGroup: int64, seccompProfile },
      others:
        "appArmorProfile fsGroupChangePolicy seLinuxChangePolicy seLinuxOptions supplementalGroups " +
        "supplementalGroupsPolicy sysctls windowsOptions",
    }),
  },
  others:
    "activeDeadlineSeconds affinity dnsConfig dnsPolicy enableServiceLinks ephemeralContainers hostAliases " +
    "hostIPC hostNetwork hostPID hostUsers hostname imagePullSecrets initContainers nodeName nodeSelector os " +
    "overhead preemptionPolicy priority priorityClassName readinessGates resourceClaims resources " +
    "restartPolicy runtimeClassName schedulerName schedulingGates serviceAccount serviceAccountName " +
    "setHostnameAsFQDN shareProcessNamespace subdomain tolerations topologySpreadConstraints",
});

/** By kind, each of its own version of the API. */
export const kubernetesSchemas: Readonly<Record<string, Rule>> = {
  Secret: fields({
    required: { apiVersion: words("v1"), kind: words("Secret"), metadata },
    optional: {
      type: text(),
      data: mapOf(/^[\w.-]{1,253}$/, text(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,3}={1,2})?$/)),
    },
    others: "immutable stringData",
  }),
  Deployment: fields({
    required: {
      apiVersion: words("apps/v1"),
      kind: words("Deployment"),
      metadata,
      spec: fields({
        required: {
          selector,
          template: fields({ optional: { metadata: podMetadata, spec: podSpec } }),
        },
        optional: { replicas: int32() },
        others: "minReadySeconds paused progressDeadlineSeconds revisionHistoryLimit strategy",
      }),
    },
    others: "status",
  }),
  PodDisruptionBudget: fields({
    required: {
      apiVersion: words("policy/v1"),
      kind: words("PodDisruptionBudget"),
      metadata,
      spec: all(
        fields({ optional: { maxUnavailable: int32(), selector }, others: "minAvailable unhealthyPodEvictionPolicy" }),
        // A server refuses both.
        (spec, at) =>
          "maxUnavailable" in (spec as object) && "minAvailable" in (spec as object)
            ? [`${at}: has both a minimum and a maximum`]
            : [],
      ),
    },
    others: "status",
  }),
};

const composeName = /^[a-zA-Z0-9._-]+$/;
const extensions = /^x-/;
const service = fields({
  optional: {
    image: text(/^[a-z0-9][\w./:@-]*$/),
    command: listOf(text()),
    working_dir: text(),
    network_mode: text(/^(?:bridge|host|none|service:.+|container:.+)$/),
    restart: text(/^(?:no|always|unless-stopped|on-failure(?::[0-9]+)?)$/),
    user: text(),
    deploy: fields({
      optional: { replicas: int32() },
      others: "mode endpoint_mode labels rollback_config update_config resources restart_policy placement",
      extensions,
    }),
    volumes: listOf(text(/^[^:]+:\/[^:]*(?::(?:ro|rw|z|Z)(?:,(?:ro|rw|z|Z))*)?$/), true),
  },
  others:
    "annotations attach blkio_config build cap_add cap_drop cgroup cgroup_parent configs container_name " +
    "cpu_count cpu_percent cpu_period cpu_quota cpu_rt_period cpu_rt_runtime cpu_shares cpus cpuset " +
    "credential_spec depends_on develop device_cgroup_rules devices dns dns_opt dns_search domainname " +
    "entrypoint env_file environment expose extends external_links extra_hosts gpus group_add healthcheck " +
    "hostname init ipc isolation label_file labels links logging mac_address mem_limit mem_reservation " +
    "mem_swappiness memswap_limit models networks oom_kill_disable oom_score_adj pid pids_limit platform " +
    "ports post_start pre_stop privileged profiles provider pull_policy pull_refresh_after read_only runtime " +
    "scale secrets security_opt shm_size stdin_open stop_grace_period stop_signal storage_opt sysctls tmpfs " +
    "tty ulimits use_api_socket userns_mode uts volumes_from",
  extensions,
});

export const composeSchema: Rule = fields({
  optional: {
    name: text(/^[a-z0-9][a-z0-9_-]*$/),
    services: mapOf(composeName, service),
    volumes: mapOf(composeName, fields({ others: "name driver driver_opts external labels", extensions })),
  },
  others: "version include models networks secrets configs",
  extensions,
});
