// Goal: `/metrics` shows what the guide, the alerts and the dashboard use, with correct types, and answers while the database does not.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { createMetrics } from '#background/metrics.ts'
import type { PoolMetrics } from '#raster/pool/pool.ts'
import { openLab, until } from './support/service.ts'
import { createDatabase } from './support/database.ts'

const root = path.dirname(import.meta.dirname)
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')
const namesIn = (text: string) =>
  new Set([...text.matchAll(/groundtrack_[a-z_]+/g)].map(([name]) => name.replace(/_(count|bucket|sum)$/, '')))
const typesIn = (text: string) => new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]))

test('a running service shows every metric of the guide, the alerts and the dashboard', async (t) => {
  const own = await createDatabase()
  const lab = openLab()
  t.after(async () => {
    await lab.close()
    await own.drop()
  })
  const service = await lab.start({ env: { DATABASE_URL: own.url, DATA_DIR: lab.dataDir(), DEMO: '0' } })
  await until('ready', async () => (await fetch(`${service.baseUrl}/ready`)).ok)
  const text = await (await fetch(`${service.baseUrl}/metrics`)).text()
  const types = typesIn(text)
  const guide = read('docs/guides/operating.md')
  const section = guide.slice(guide.indexOf('### Metrics'), guide.indexOf('Tasks and deliveries are those of all processes'))
  const documented = [...section.matchAll(/^\| (`.*`) \| (\w+) \|/gm)].flatMap(([, names, type]) =>
    [...names!.matchAll(/`(\w+)`/g)].map(([, name]) => [name!, type!] as const),
  )
  assert.ok(documented.length > 15)
  for (const [name, type] of documented) assert.equal(types.get(name), type, name)
  for (const name of types.keys()) if (name.startsWith('groundtrack_')) assert.ok(new Map(documented).has(name), `${name} is documented`)
  for (const file of ['ops/prometheus/alerts.yml', 'ops/grafana/groundtrack.json', 'docs/guides/runbook.md'])
    for (const name of namesIn(read(file))) assert.ok(types.has(name), `${file} uses ${name}`)
  for (const line of [
    /groundtrack_dependency_up\{dependency="database"\} 1/,
    /groundtrack_dependency_up\{dependency="object_store"\} 1/,
    /groundtrack_listener_up\{listener="access"\} [01]/,
    /groundtrack_database_connections\{pool="general",state="(in_use|idle)"\} \d/,
    /groundtrack_request_seconds_count\{route="\/ready",method="GET",status="200"\} [1-9]/,
    /groundtrack_webhook_deliveries_due 0/,
  ])
    assert.match(text, line)
})

test('every alert has a paragraph in the runbook', () => {
  const alerts = [...read('ops/prometheus/alerts.yml').matchAll(/alert: (\w+)/g)].map(([, name]) => name!)
  const paragraphs = [...read('docs/guides/runbook.md').matchAll(/^## (\w+)$/gm)].map(([, name]) => name!)
  assert.ok(alerts.length > 5)
  assert.deepEqual(paragraphs, alerts)
  for (const name of alerts) assert.match(read('ops/prometheus/alerts.yml'), new RegExp(`runbook.md#${name.toLowerCase()}$`, 'm'))
})

test('promtool accepts the alerts', { skip: existsSync('/usr/bin/promtool') ? false : 'promtool is not installed' }, () => {
  assert.match(
    execFileSync('/usr/bin/promtool', ['check', 'rules', 'ops/prometheus/alerts.yml'], { cwd: root, encoding: 'utf8' }),
    /12 rules found/,
  )
})

test('a database that does not answer leaves its metrics out, and the rest is shown', async () => {
  const idle: PoolMetrics = {
    queued: 0,
    running: 0,
    children: 0,
    started: 0,
    completed: 3,
    failed: 0,
    refused: 0,
    cancelled: 0,
    crashed: 0,
    timedOut: 0,
    outOfMemory: 0,
    recycled: 0,
    rested: 0,
    busyMs: 1_500,
  }
  const cache = { hits: 1, misses: 2, joined: 0, evictions: 0, entries: 1, bytes: 10 }
  let reads = 0
  const metrics = createMetrics({
    connections: () => [],
    replicas: () => [{ name: 'r1', isUsed: true, lagSeconds: 2, connections: 3, reads: 5, repeated: 1 }],
    raster: () => ({ pools: { images: idle, conversions: idle }, caches: { images: cache, files: cache } }),
    listeners: () => ({ access: false, commits: null }),
    queues: async () => {
      reads++
      throw new Error('down')
    },
    deliveries: async () => ({ deliveries: 2, oldestSeconds: 7 }),
  })
  for (const text of [await metrics.text(), await metrics.text()]) {
    assert.doesNotMatch(text, /groundtrack_tasks_due\{/)
    assert.match(text, /groundtrack_webhook_oldest_seconds 7/)
    assert.match(text, /groundtrack_replica_lag_seconds\{replica="r1"\} 2/)
    assert.match(text, /groundtrack_listener_up\{listener="access"\} 0/)
    assert.doesNotMatch(text, /listener="commits"/)
    assert.match(text, /groundtrack_raster_tasks_total\{pool="images",outcome="completed"\} 3/, 'a count is not added up by scrapes')
    assert.match(text, /groundtrack_raster_busy_seconds_total\{pool="images"\} 1.5/)
  }
  assert.equal(reads, 1, 'scrapes within seconds share one query')
})
