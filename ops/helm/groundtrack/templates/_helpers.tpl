{{- define "groundtrack.name" -}}
{{- if contains "groundtrack" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-groundtrack" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* The labels of one part: a dict with `root` and `part`. */}}
{{- define "groundtrack.selector" -}}
app.kubernetes.io/name: groundtrack
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "groundtrack.labels" -}}
{{ include "groundtrack.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "groundtrack.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}{{ else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* Settings, and a path for each secret. */}}
{{- define "groundtrack.environment" -}}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- range .Values.secrets.keys }}
- name: {{ . }}_FILE
  value: /run/secrets/groundtrack/{{ . }}
{{- end }}
{{- end }}

{{- define "groundtrack.mounts" -}}
- { name: secrets, mountPath: /run/secrets/groundtrack, readOnly: true }
- { name: work, mountPath: /var/lib/groundtrack }
- { name: tmp, mountPath: /tmp }
{{- end }}

{{/* A dict with `root` and `workSize`. */}}
{{- define "groundtrack.volumes" -}}
- name: secrets
  secret:
    secretName: {{ .root.Values.secrets.existingSecret }}
    defaultMode: 0440
    items:
      {{- range .root.Values.secrets.keys }}
      - { key: {{ . }}, path: {{ . }} }
      {{- end }}
- name: work
  emptyDir: { sizeLimit: {{ .workSize }} }
- name: tmp
  emptyDir: { sizeLimit: 1Gi }
{{- end }}

{{- define "groundtrack.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.serviceAccount.name }}
serviceAccountName: {{ . }}
{{- end }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "groundtrack.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}
