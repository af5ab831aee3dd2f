{{- define "zerohop.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "zerohop.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "zerohop.labels" -}}
{{ include "zerohop.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* The secret with keys.sqlite; empty: each pod has a store of its own. */}}
{{- define "zerohop.keysSecret" -}}
{{- if .Values.keys.existingSecret -}}
{{- .Values.keys.existingSecret -}}
{{- else if .Values.keys.storeBase64 -}}
{{- printf "%s-keys" (include "zerohop.name" .) -}}
{{- end -}}
{{- end -}}

{{/* The settings that the chart makes; .Values.config goes over them. */}}
{{- define "zerohop.settings" -}}
server:
  host: "0.0.0.0"
  port: 8080
  drain_seconds: {{ .Values.drain.seconds }}
instance:
  pool: {{ .Values.pool | quote }}
model:
  name: {{ .Values.model | quote }}
auth:
  required: always
{{- if include "zerohop.keysSecret" . }}
  store: /etc/zerohop/keys/keys.sqlite
{{- end }}
{{- if .Values.tls.existingSecret }}
tls:
  certificate: /etc/zerohop/tls/tls.crt
  private_key: /etc/zerohop/tls/tls.key
{{- end }}
{{- end -}}
