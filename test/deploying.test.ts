// Goal: what ops/ offers to run the service elsewhere is valid by the programs that will read it, runs as nobody in particular with
// a read-only root, names only settings that exist, and what is signed can be verified.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { Ajv } from 'ajv'
import { SETTING_NAMES } from '#core/settings.ts'
import { bill } from '../tools/image/bill.ts'
import { pins } from '../tools/image/debian.ts'
import { USED_FIELDS } from './support/used-fields.ts'

const root = path.dirname(import.meta.dirname)
const CHART = path.join(root, 'ops/helm/groundtrack')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')
const version = (JSON.parse(read('package.json')) as { version: string }).version
const isInstalled = (program: string, ...args: string[]) => spawnSync(program, args).status === 0
const missing = (program: string, ...args: string[]) => (isInstalled(program, ...args) ? false : `${program} is not installed`)
/** Of Go programs, which CI builds. */
const HELM = process.env['HELM'] ?? 'helm'
const KUBECONFORM = process.env['KUBECONFORM'] ?? 'kubeconform'
/** The folder `kubernetes-json-schema` of the Python package kubernetes-validate. */
const SCHEMAS = process.env['KUBERNETES_SCHEMAS'] ?? ''
const KUBERNETES = '1.33.0'
const REQUIRED = ['--set', 'settings.BASE_URL=https://imagery.example', '--set', 'settings.STORAGE_URL=s3://imagery']
const EVERYTHING = [
  ...REQUIRED,
  '--set=ingress.enabled=true,ingress.host=imagery.example,ingress.tlsSecret=tls,podMonitor.enabled=true,serviceAccount.name=imagery',
  '--set=api.autoscaling.enabled=true,api.autoscaling.requestsPerSecond=50,image.pullSecrets[0]=registry',
  '--set-string=settings.OTEL_TRACES_SAMPLER_ARG=0.1',
]

function folder(t: TestContext): string {
  const made = mkdtempSync(path.join(tmpdir(), 'deploying-'))
  t.after(() => rmSync(made, { recursive: true }))
  return made
}

/** A setting, or the path of a file with a secret one. */
const isSetting = (name: string) => [...SETTING_NAMES, 'CONFIG_FILE'].some((known) => name === known || name === `${known}_FILE`)

test('versions of the service, the chart and the compose file are the same', () => {
  const chart = read('ops/helm/groundtrack/Chart.yaml')
  assert.match(chart, new RegExp(`^version: ${version}$`, 'm'))
  assert.match(chart, new RegExp(`^appVersion: ${version}$`, 'm'))
  assert.ok(read('ops/compose.yaml').includes(`groundtrack:${version}`))
})

test('the image is built from files alone and runs as an ordinary user', () => {
  const lines = read('ops/image/Containerfile')
    .split('\n')
    .filter((line) => /^[A-Z]+ /.test(line))
  const instructions = lines.map((line) => line.split(' ')[0])
  assert.equal(lines[0], 'FROM scratch')
  assert.ok(!instructions.includes('RUN'), 'nothing runs at its build, so that it needs no emulation')
  assert.ok(lines.includes('USER 10001:10001'))
  const { amd64, arm64 } = pins()
  const versions = (packages: typeof amd64) => packages.map(({ name, version: pinned }) => [name, pinned])
  assert.deepEqual(versions(amd64), versions(arm64))
  for (const { file, sha256 } of [...amd64, ...arm64]) assert.match(`${file} ${sha256}`, /^debian(-security)?\/pool\/.*\.deb [0-9a-f]{64}$/)
})

test('the bill of materials is the same whenever it is made, and lists what is in the image', () => {
  const component = (name: string) => ({
    type: 'library',
    name,
    version: '1.0.0',
    purl: `pkg:npm/${name}@1.0.0`,
    'bom-ref': `${name}@1.0.0`,
  })
  const fromNpm = (serialNumber: string, timestamp: string) =>
    JSON.stringify({
      bomFormat: 'CycloneDX',
      specVersion: '1.5',
      serialNumber,
      metadata: { timestamp, component: component('groundtrack') },
      components: [component('b'), component('a'), component('for-another-system')],
      dependencies: [
        { ref: 'groundtrack@1.0.0', dependsOn: ['b@1.0.0', 'a@1.0.0', 'for-another-system@1.0.0'] },
        { ref: 'for-another-system@1.0.0' },
      ],
    })
  const contents = { arch: 'amd64', node: '24.0.0', epoch: 1_800_000_000, installed: new Set(['a@1.0.0', 'b@1.0.0']) } as const
  const first = bill(fromNpm('urn:uuid:1', '2026-01-01T00:00:00Z'), contents)
  assert.equal(first, bill(fromNpm('urn:uuid:2', '2026-01-02T00:00:00Z'), contents))
  const { components, dependencies, serialNumber } = JSON.parse(first) as {
    components: { name: string }[]
    dependencies: { ref: string; dependsOn: string[] }[]
    serialNumber: string
  }
  const names = components.map(({ name }) => name)
  for (const name of ['a', 'b', 'node', 'libc6', 'libstdc++6']) assert.ok(names.includes(name), name)
  assert.ok(!first.includes('for-another-system'))
  assert.deepEqual(dependencies, [{ ref: 'groundtrack@1.0.0', dependsOn: ['a@1.0.0', 'b@1.0.0'] }])
  assert.match(serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('the commands of docs/releasing.md sign a release, and a changed file is noticed', { skip: missing('openssl', 'version') }, (t) => {
  const place = folder(t)
  const dist = path.join(place, 'dist')
  mkdirSync(dist)
  const blocks = [...read('docs/releasing.md').matchAll(/```sh\n(.*?)```/gs)].map(([, text]) => text!)
  const shell = (word: string) => {
    const script = blocks.find((text) => text.includes(word)) ?? assert.fail(`no commands with ${word}`)
    return spawnSync('sh', ['-ec', script], { cwd: place, encoding: 'utf8' })
  }
  const [image, bom, sums] = [`groundtrack-${version}-amd64.tar`, 'sbom-amd64.cdx.json', 'SHA256SUMS'].map((name) => path.join(dist, name))
  writeFileSync(image!, 'image')
  writeFileSync(bom!, '{}')
  for (const word of ['genpkey', 'pkeyutl -sign', 'pkeyutl -verify']) {
    const { status, stderr } = shell(word)
    assert.equal(status, 0, stderr)
  }
  writeFileSync(bom!, '{"changed":true}')
  assert.notEqual(shell('pkeyutl -verify').status, 0)
  writeFileSync(bom!, '{}')
  writeFileSync(sums!, `${readFileSync(sums!, 'utf8')}\n`)
  assert.notEqual(shell('pkeyutl -verify').status, 0)
})

test('systemd accepts the units', { skip: missing('systemd-analyze', '--version') }, (t) => {
  const machine = folder(t)
  for (const name of ['etc/systemd/system', 'lib/systemd', 'usr/lib', 'opt/groundtrack/bin'])
    mkdirSync(path.join(machine, name), { recursive: true })
  cpSync('/lib/systemd/system', path.join(machine, 'lib/systemd/system'), { recursive: true, verbatimSymlinks: true })
  symlinkSync('../../lib/systemd', path.join(machine, 'usr/lib/systemd'))
  cpSync(path.join(root, 'ops/systemd'), path.join(machine, 'etc/systemd/system'), { recursive: true })
  const node = path.join(machine, 'opt/groundtrack/bin/node')
  writeFileSync(node, '#!/bin/sh\n')
  chmodSync(node, 0o755)
  const verify = () => {
    const units = ['groundtrack.service', 'groundtrack-worker@1.service']
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', `--root=${machine}`, ...units], { encoding: 'utf8' })
    return `${status} ${stdout}${stderr}`.trim()
  }
  assert.equal(verify(), '0')
  const unit = path.join(machine, 'etc/systemd/system/groundtrack.service')
  writeFileSync(unit, readFileSync(unit, 'utf8').replace('TimeoutStopSec', 'TimoutStopSec'))
  assert.match(verify(), /Unknown key/, 'the check notices a misspelled line')
})

test('units name settings that exist, and the API and workers differ in little else', () => {
  const units = ['groundtrack.service', 'groundtrack-worker@.service'].map((name) => read(`ops/systemd/${name}`))
  for (const unit of units)
    for (const [, pairs] of unit.matchAll(/^Environment=(.*)$/gm))
      for (const pair of pairs!.split(' '))
        assert.ok(
          ['NODE_ENV', 'NODE_COMPILE_CACHE', ...SETTING_NAMES].includes(pair.split('=')[0]!) || isSetting(pair.split('=')[0]!),
          pair,
        )
  const common = (unit: string) => unit.split('\n').filter((line) => !/^(#|Description=|Environment=ROLE)/.test(line))
  assert.deepEqual(common(units[0]!), common(units[1]!))
})

const COMPOSE_SETTINGS = { POSTGRES_PASSWORD: 'p', BASE_URL: 'https://imagery.example', STORE_URL: 'https://files.imagery.example' }

test('docker-compose accepts the compose file, and asks for what it needs', { skip: missing('docker-compose', 'version') }, () => {
  const compose = (env: Record<string, string>) =>
    spawnSync('docker-compose', ['-f', path.join(root, 'ops/compose.yaml'), 'config'], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], ...env },
    })
  const accepted = compose(COMPOSE_SETTINGS)
  assert.equal(accepted.status, 0, accepted.stderr)
  assert.match(accepted.stdout, /DATABASE_URL: postgres:\/\/groundtrack:p@database\/groundtrack/)
  for (const name of Object.keys(COMPOSE_SETTINGS)) {
    const { status, stderr } = compose({ ...COMPOSE_SETTINGS, [name]: '' })
    assert.notEqual(status, 0)
    assert.match(stderr, new RegExp(name))
  }
})

test('the compose file names settings that exist, and no container of ours can write to its root or become root', () => {
  const compose = read('ops/compose.yaml')
  const settings = compose.slice(compose.indexOf('x-settings'), compose.indexOf('services:'))
  const names = [...settings.matchAll(/^ {2}([A-Z_]+):/gm)].map(([, name]) => name!)
  assert.ok(names.length > 5)
  for (const name of names) assert.ok(isSetting(name), name)
  for (const line of ['read_only: true', 'cap_drop: [ALL]', "security_opt: ['no-new-privileges:true']"]) assert.ok(compose.includes(line))
})

test('the schema of the values rejects what would not work', () => {
  const schema = JSON.parse(read('ops/helm/groundtrack/values.schema.json')) as { properties: Record<string, object>; definitions: object }
  const validate = new Ajv({ strict: false }).compile({ ...schema.properties['settings'], definitions: schema.definitions })
  const settings = { BASE_URL: 'https://imagery.example', STORAGE_URL: 's3://imagery' }
  assert.ok(validate(settings))
  for (const wrong of [
    { BASE_URL: 'https://imagery.example' },
    { ...settings, STORAGE_URL: '/files' },
    { ...settings, DATABASE_URL: 'postgres://u:p@h/d' },
    { ...settings, METRICS_TOKEN: 't' },
    { ...settings, ROLE: 'all' },
    { ...settings, lower_case: '1' },
  ])
    assert.ok(!validate(wrong), JSON.stringify(wrong))
})

const helm = (args: readonly string[]) => spawnSync(HELM, [...args], { cwd: root, encoding: 'utf8' })
const rendered = (...more: string[]): string => {
  const { status, stdout, stderr } = helm(['template', 'imagery', CHART, '--namespace', 'maps', '--kube-version', KUBERNETES, ...more])
  assert.equal(status, 0, stderr)
  return stdout
}
const document = (text: string, kind: string, name: string): string =>
  text.split(/^---$/m).find((part) => part.includes(`\nkind: ${kind}\n`) && part.includes(`\n  name: ${name}\n`)) ??
  assert.fail(`no ${kind} ${name}`)

test('helm renders the chart', { skip: missing(HELM, 'version') }, async (t) => {
  await t.test('lint has no complaint', () => {
    const { status, stdout } = helm(['lint', '--strict', CHART, '--kube-version', KUBERNETES, ...REQUIRED])
    assert.equal(status, 0, stdout)
  })
  await t.test('without its required values it does not render', () => {
    const { status, stderr } = helm(['template', 'imagery', CHART, '--kube-version', KUBERNETES])
    assert.notEqual(status, 0)
    for (const name of ['BASE_URL', 'STORAGE_URL']) assert.ok(stderr.includes(name), stderr)
  })
  await t.test('the API and workers are separate, with probes, and stop after they have drained', () => {
    const text = rendered(...REQUIRED, '--set', 'drainSeconds=20')
    for (const part of ['api', 'worker']) {
      const deployment = document(text, 'Deployment', `imagery-groundtrack-${part}`)
      for (const expected of [
        `{ name: ROLE, value: ${part} }`,
        'readinessProbe:\n            httpGet: { path: /ready, port: http }',
        'livenessProbe:\n            httpGet: { path: /health, port: http }',
        '{ name: DRAIN_SECONDS, value: "20" }',
        'terminationGracePeriodSeconds: 50',
        'readOnlyRootFilesystem: true',
        'runAsNonRoot: true',
        'automountServiceAccountToken: false',
        'value: /run/secrets/groundtrack/DATABASE_URL',
      ])
        assert.ok(deployment.includes(expected), `${part}: ${expected}`)
      for (const [, name] of deployment.matchAll(/- (?:\{ )?name: ([A-Z_]+)/g)) assert.ok(isSetting(name!), name)
      assert.match(document(text, 'PodDisruptionBudget', `imagery-groundtrack-${part}`), /maxUnavailable: 1/)
    }
    assert.ok(!text.includes('HorizontalPodAutoscaler') && !text.includes('ScaledObject'))
  })
  await t.test('migrations run before a rollout', () => {
    const job = document(rendered(...REQUIRED), 'Job', 'imagery-groundtrack-migrate')
    assert.match(job, /helm\.sh\/hook: pre-install,pre-upgrade/)
    assert.match(job, /args: \[tools\/migrate\.ts, --expand\]/)
    assert.ok(!rendered(...REQUIRED, '--set', 'migration.enabled=false').includes('kind: Job'))
  })
  await t.test('autoscalers use metrics that the service has', () => {
    const metrics = new Set([...read('docs/guides/operating.md').matchAll(/`(groundtrack_[a-z_]+)`/g)].map(([, name]) => name!))
    const hpa = document(
      rendered(...EVERYTHING, '--set', 'worker.autoscaling.kind=hpa'),
      'HorizontalPodAutoscaler',
      'imagery-groundtrack-worker',
    )
    assert.match(hpa, /metric: \{ name: groundtrack_tasks_due \}/)
    const keda = document(rendered(...EVERYTHING, '--set', 'worker.autoscaling.kind=keda'), 'ScaledObject', 'imagery-groundtrack-worker')
    assert.match(keda, /query: sum\(max by \(task\) \(groundtrack_tasks_due\{namespace="maps"\}\)\)/)
    const adapter = read('ops/prometheus/adapter.yml')
    for (const [, name] of adapter.matchAll(/seriesQuery: (groundtrack_[a-z_]+?)(?:_count)?\{/g)) assert.ok(metrics.has(name!), name)
    assert.ok(adapter.includes('as: groundtrack_requests_per_second') && adapter.includes('as: groundtrack_tasks_due'))
    const scaled = document(rendered(...EVERYTHING), 'Deployment', 'imagery-groundtrack-api')
    assert.ok(!/^ {2}replicas:/m.test(scaled), 'a rollout does not undo what the autoscaler has decided')
  })
})

test('the fields of KEDA and the Prometheus Operator that the chart uses', () => {
  const labels = { 'app.kubernetes.io/name': 'groundtrack' }
  const trigger = { type: 'prometheus', metadata: { serverAddress: 'http://prometheus:9090', query: 'sum(due)', threshold: '2' } }
  const scaled = {
    apiVersion: 'keda.sh/v1alpha1',
    kind: 'ScaledObject',
    metadata: { name: 'worker', labels },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'worker' },
      minReplicaCount: 1,
      maxReplicaCount: 20,
      cooldownPeriod: 900,
      advanced: { horizontalPodAutoscalerConfig: { behavior: { scaleDown: { stabilizationWindowSeconds: 900 } } } },
      triggers: [trigger],
    },
  }
  const endpoint = { port: 'http', path: '/metrics', interval: '30s', authorization: { credentials: { name: 'secret', key: 'TOKEN' } } }
  const monitor = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PodMonitor',
    metadata: { name: 'pods', labels },
    spec: { selector: { matchLabels: labels }, podMetricsEndpoints: [endpoint] },
  }
  const validate = (kind: string, value: object) => new Ajv({ strict: false }).compile(USED_FIELDS[kind]!)(value)
  assert.ok(validate('scaledobject-keda-v1alpha1', scaled))
  assert.ok(validate('podmonitor-monitoring-v1', monitor))
  for (const spec of [
    { ...scaled.spec, maxReplicas: 20 },
    { ...scaled.spec, minReplicaCount: '1' },
    { ...scaled.spec, triggers: [{ ...trigger, metadata: { ...trigger.metadata, threshold: 2 } }] },
    { ...scaled.spec, triggers: [] },
  ])
    assert.ok(!validate('scaledobject-keda-v1alpha1', { ...scaled, spec }), JSON.stringify(spec))
  for (const wrong of [
    { ...endpoint, interval: '30 s' },
    { ...endpoint, bearerTokenSecret: {} },
    { ...endpoint, path: 'metrics' },
  ])
    assert.ok(!validate('podmonitor-monitoring-v1', { ...monitor, spec: { ...monitor.spec, podMetricsEndpoints: [wrong] } }))
  const template = (file: string) => read(`ops/helm/groundtrack/templates/${file}`)
  const names = (schema: object): string[] =>
    Object.entries(schema).flatMap(([key, value]) => [
      ...(key === 'properties' ? Object.keys(value as object) : []),
      ...(typeof value === 'object' && value !== null ? names(value as object) : []),
    ])
  const written = `${template('autoscaling.yaml')}${template('monitor.yaml')}`
  for (const name of Object.values(USED_FIELDS).flatMap(names)) assert.ok(new RegExp(`\\b${name}:`).test(written), `${name} is not used`)
})

/** Kubernetes' own schemas, each with all definitions in its file, as kubeconform reads it, and the fields of others that we use. */
function schemasIn(target: string): string {
  const source = path.join(SCHEMAS, `v${KUBERNETES}-local-strict`)
  const own = (text: string) => JSON.parse(text.replaceAll(/"[^"#]*_definitions\.json#/g, '"#')) as Record<string, unknown>
  const { $defs } = own(readFileSync(path.join(source, '_definitions.json'), 'utf8'))
  for (const kind of [
    'deployment-apps-v1',
    'service-v1',
    'job-batch-v1',
    'poddisruptionbudget-policy-v1',
    'horizontalpodautoscaler-autoscaling-v2',
    'ingress-networking-v1',
  ])
    writeFileSync(
      path.join(target, `${kind}.json`),
      JSON.stringify({ ...own(readFileSync(path.join(source, `${kind}.json`), 'utf8')), $defs }),
    )
  for (const [kind, schema] of Object.entries(USED_FIELDS)) writeFileSync(path.join(target, `${kind}.json`), JSON.stringify(schema))
  return path.join(target, '{{.ResourceKind}}{{.KindSuffix}}.json')
}

test(
  'kubeconform accepts what helm renders',
  { skip: missing(HELM, 'version') || missing(KUBECONFORM, '-v') || (existsSync(SCHEMAS) ? false : 'KUBERNETES_SCHEMAS names no folder') },
  (t) => {
    const location = schemasIn(folder(t))
    const check = (input: string) => spawnSync(KUBECONFORM, ['-summary', '-schema-location', location], { input, encoding: 'utf8' })
    for (const kind of ['none', 'hpa', 'keda']) {
      const { status, stdout, stderr } = check(rendered(...EVERYTHING, '--set', `worker.autoscaling.kind=${kind}`))
      assert.equal(status, 0, stdout + stderr)
      assert.match(stdout, /Valid: (?:9|10), Invalid: 0, Errors: 0, Skipped: 0/)
    }
    const wrong = check(rendered(...REQUIRED).replace('readinessProbe:', 'readyProbe:'))
    assert.notEqual(wrong.status, 0)
    assert.match(wrong.stdout, /readyProbe/)
    const keda = rendered(...EVERYTHING, '--set', 'worker.autoscaling.kind=keda')
    for (const [right, misspelled] of [
      ['cooldownPeriod:', 'coolDownPeriod:'],
      ['podMetricsEndpoints:', 'endpoints:'],
    ] as const)
      assert.notEqual(check(keda.replace(right, misspelled)).status, 0, misspelled)
  },
)

test('promtool reads the queries of the autoscalers', { skip: missing('promtool', '--version') }, (t) => {
  const query = 'sum(max by (task) (groundtrack_tasks_due{namespace="maps"}))'
  const file = path.join(folder(t), 'rules.yml')
  writeFileSync(file, `groups: [{ name: scaling, rules: [{ record: due, expr: '${query}' }] }]\n`)
  assert.match(execFileSync('promtool', ['check', 'rules', file], { encoding: 'utf8' }), /SUCCESS: 1 rules found/)
})
