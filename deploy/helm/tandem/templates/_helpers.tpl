{{- define "tandem.name" -}}
{{- printf "%s-%s" .root.Release.Name .role | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{- define "tandem.labels" -}}
app.kubernetes.io/name: tandem
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{- define "tandem.metadata" -}}
name: {{ include "tandem.name" . }}
labels:
  {{- include "tandem.labels" . | nindent 2 }}
  app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .root.Release.Service }}
  helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "tandem.image" -}}
{{- printf "%s:%s" .root.Values.image.repository (.root.Values.image.tag | default .root.Chart.AppVersion) -}}
{{- end }}

{{- define "tandem.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* Secrets are mounted so that a group may read them, and such keys are refused: they are copied for user 1000. */}}
{{- define "tandem.keys" -}}
- name: keys
  image: {{ include "tandem.image" . }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  command: [sh, -c, "umask 077 && cp /secret/* /keys/"]
  securityContext:
    {{- include "tandem.containerSecurity" . | nindent 4 }}
  resources: { requests: { cpu: 10m, memory: 16Mi }, limits: { memory: 64Mi } }
  volumeMounts:
    - { name: secret, mountPath: /secret, readOnly: true }
    - { name: keys, mountPath: /keys }
{{- end }}

{{- define "tandem.podSpec" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
# SIGTERM ends an attempt at a job; the job continues after the start.
terminationGracePeriodSeconds: 60
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
initContainers:
  {{- include "tandem.keys" . | nindent 2 }}
{{- end }}

{{- define "tandem.volumes" -}}
- name: config
  configMap: { name: {{ include "tandem.name" . }} }
- name: secret
  secret: { secretName: {{ required (printf "%s.secret must name a Secret" .role) .values.secret }}, defaultMode: 0440 }
- name: keys
  emptyDir: { medium: Memory, sizeLimit: 1Mi }
- name: tmp
  emptyDir: {}
{{- end }}

{{- define "tandem.mounts" -}}
- { name: config, mountPath: /config, readOnly: true }
- { name: keys, mountPath: /keys, readOnly: true }
- { name: tmp, mountPath: /tmp }
{{- end }}

{{- define "tandem.container" -}}
image: {{ include "tandem.image" . }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  {{- include "tandem.containerSecurity" . | nindent 2 }}
resources:
  {{- toYaml .values.resources | nindent 2 }}
{{- end }}

{{- define "tandem.config" -}}
apiVersion: v1
kind: ConfigMap
metadata:
  {{- include "tandem.metadata" . | nindent 2 }}
data:
  {{ .file }}: |
    {{- required (printf "%s.config must be the config as text" .role) .values.config | nindent 4 }}
{{- end }}

{{- define "tandem.service" -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "tandem.metadata" . | nindent 2 }}
  {{- with .values.service.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ .values.service.type }}
  {{- with .values.service.loadBalancerSourceRanges }}
  loadBalancerSourceRanges:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  selector:
    {{- include "tandem.labels" . | nindent 4 }}
  ports:
    - { name: tandem, port: {{ .values.port }}, targetPort: tandem, protocol: TCP }
{{- end }}

{{/* A check inside the container: metrics need a token, which a probe of the node would not have. */}}
{{- define "tandem.healthEnv" -}}
- { name: TANDEM_HEALTH_URL, value: "http://127.0.0.1:{{ .values.metricsPort }}/metrics" }
- { name: TANDEM_HEALTH_TOKEN_FILE, value: /keys/metrics.token }
{{- end }}

{{- define "tandem.execProbes" -}}
startupProbe:
  exec: { command: [node, /opt/tandem/health.mjs] }
  periodSeconds: 10
  timeoutSeconds: 10
  # Reading a large table takes its time.
  failureThreshold: 180
livenessProbe:
  exec: { command: [node, /opt/tandem/health.mjs] }
  periodSeconds: 60
  timeoutSeconds: 30
  failureThreshold: 5
readinessProbe:
  exec: { command: [node, /opt/tandem/health.mjs] }
  periodSeconds: 30
  timeoutSeconds: 10
{{- end }}

{{/* Names are looked up anywhere; the rest is what the role's values list. */}}
{{- define "tandem.egress" -}}
egress:
  - ports:
      - { port: 53, protocol: UDP }
      - { port: 53, protocol: TCP }
  {{- with .values.egress }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- define "tandem.blocks" -}}
{{- range . }}
- ipBlock: { cidr: {{ . | quote }} }
{{- end }}
{{- end }}
