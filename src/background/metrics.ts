/** What `/metrics` shows: counts of calls and requests, and the state of what the process uses, read at each scrape. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { ConnectionUse } from '#db/open.ts'
import type { QueueBacklog } from '#db/queue.ts'
import type { ReplicaState } from '#db/replicas/replica.ts'
import type { RasterMetrics } from '#ports/raster.ts'

export interface Metrics {
  observeCall(operation: string, status: number, seconds: number): void
  observeRequest(request: { route: string; method: string; status: number; seconds: number }): void
  observeFault(operation: string): void
  /** What the process depends on, once it is known. */
  showDependencies(dependencies: () => readonly { readonly name: string; readonly isUp: boolean }[]): void
  text(): Promise<string>
  readonly contentType: string
}

export interface MetricSources {
  connections(): readonly ConnectionUse[]
  replicas(): readonly ReplicaState[]
  raster(): RasterMetrics
  /** Whether each listener receives; null for one that is not needed. */
  listeners(): Readonly<Record<string, boolean | null>>
  /** From the database, so the values are the same for all processes. */
  queues(): Promise<readonly QueueBacklog[]>
  deliveries(): Promise<{ readonly deliveries: number; readonly oldestSeconds: number }>
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
/** A scrape succeeds even if the database does not answer: what it would say is left out. */
const DATABASE_TIMEOUT_MS = 2_000
/** Several scrapers share one query. */
const MAX_AGE_MS = 5_000

export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const calls = new Histogram({
    name: 'groundtrack_call_seconds',
    help: 'Duration of operation calls',
    labelNames: ['operation', 'status'],
    buckets: SECONDS,
    registers,
  })
  const requests = new Histogram({
    name: 'groundtrack_request_seconds',
    help: 'Duration of HTTP requests, by route',
    labelNames: ['route', 'method', 'status'],
    buckets: SECONDS,
    registers,
  })
  const faults = new Counter({
    name: 'groundtrack_faults_total',
    help: 'Internal errors, by operation or task',
    labelNames: ['operation'],
    registers,
  })
  showConnections(registers, sources)
  showReplicas(registers, sources)
  showListeners(registers, sources)
  showQueues(registers, sources)
  showPools(registers, sources)
  showCaches(registers, sources)
  return {
    observeCall: (operation, status, seconds) => calls.observe({ operation, status: String(status) }, seconds),
    observeRequest: ({ route, method, status, seconds }) => requests.observe({ route, method, status: String(status) }, seconds),
    observeFault: (operation) => faults.inc({ operation }),
    showDependencies(dependencies) {
      gauge(registers, 'groundtrack_dependency_up', 'Whether a dependency responds (1) or not (0)', ['dependency'], (set) => {
        for (const { name, isUp } of dependencies()) set({ dependency: name }, isUp ? 1 : 0)
      })
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

type Labels = Readonly<Record<string, string>>
type Collect = (set: (labels: Labels, value: number) => void) => void | Promise<void>

/** A value now. */
function gauge(registers: Registry[], name: string, help: string, labelNames: readonly string[], collect: Collect): void {
  new Gauge({
    name,
    help,
    labelNames: [...labelNames],
    registers,
    async collect() {
      this.reset() // A label that is gone must not keep its last value.
      await collect((labels, value) => this.set(labels, value))
    },
  })
}

/** A count since the start, kept elsewhere. */
function counter(registers: Registry[], name: string, help: string, labelNames: readonly string[], collect: Collect): void {
  new Counter({
    name,
    help,
    labelNames: [...labelNames],
    registers,
    async collect() {
      this.reset()
      await collect((labels, value) => this.inc(labels, value))
    },
  })
}

function showConnections(registers: Registry[], { connections }: MetricSources): void {
  gauge(registers, 'groundtrack_database_connections', 'Database connections of this process', ['pool', 'state'], (set) => {
    for (const { pool, inUse, idle } of connections()) {
      set({ pool, state: 'in_use' }, inUse)
      set({ pool, state: 'idle' }, idle)
    }
  })
  gauge(registers, 'groundtrack_database_waiting', 'Requests that wait for a database connection', ['pool'], (set) => {
    for (const { pool, waiting } of connections()) set({ pool }, waiting)
  })
}

function showReplicas(registers: Registry[], { replicas }: MetricSources): void {
  gauge(registers, 'groundtrack_replica_used', 'Whether a replica of the database is used (1) or set aside (0)', ['replica'], (set) => {
    for (const { name, isUsed } of replicas()) set({ replica: name }, isUsed ? 1 : 0)
  })
  gauge(registers, 'groundtrack_replica_lag_seconds', 'How far a replica is behind the primary', ['replica'], (set) => {
    for (const { name, lagSeconds } of replicas()) set({ replica: name }, lagSeconds)
  })
  gauge(registers, 'groundtrack_replica_connections', 'Connections of this process to a replica', ['replica'], (set) => {
    for (const { name, connections } of replicas()) set({ replica: name }, connections)
  })
  counter(registers, 'groundtrack_replica_reads_total', 'Reads of replicas, by result', ['replica', 'result'], (set) => {
    for (const { name, reads, repeated } of replicas()) {
      set({ replica: name, result: 'served' }, reads)
      set({ replica: name, result: 'repeated_on_primary' }, repeated)
    }
  })
}

function showListeners(registers: Registry[], { listeners }: MetricSources): void {
  const help = 'Whether notifications from the database arrive (1) or not (0)'
  gauge(registers, 'groundtrack_listener_up', help, ['listener'], (set) => {
    for (const [listener, isUp] of Object.entries(listeners())) if (isUp !== null) set({ listener }, isUp ? 1 : 0)
  })
}

function showQueues(registers: Registry[], { queues, deliveries }: MetricSources): void {
  const tasks = sampled(queues)
  gauge(registers, 'groundtrack_tasks_due', 'Background tasks that are due, of all processes', ['task'], async (set) => {
    for (const { name, tasks: count } of (await tasks()) ?? []) set({ task: name }, count)
  })
  gauge(registers, 'groundtrack_task_oldest_seconds', 'How long the oldest due task has waited', ['task'], async (set) => {
    for (const { name, oldestSeconds } of (await tasks()) ?? []) set({ task: name }, oldestSeconds)
  })
  const webhooks = sampled(deliveries)
  gauge(registers, 'groundtrack_webhook_deliveries_due', 'Webhook deliveries that are due, of all processes', [], async (set) => {
    const backlog = await webhooks()
    if (backlog) set({}, backlog.deliveries)
  })
  gauge(registers, 'groundtrack_webhook_oldest_seconds', 'How long the oldest due webhook delivery has waited', [], async (set) => {
    const backlog = await webhooks()
    if (backlog) set({}, backlog.oldestSeconds)
  })
}

/** The last value for a few seconds, then a new one; null if it cannot be read in time. */
function sampled<T>(read: () => Promise<T>): () => Promise<T | null> {
  let sample: Promise<T | null> | null = null
  let takenAtMs = -Infinity
  return () => {
    if (sample && performance.now() - takenAtMs < MAX_AGE_MS) return sample
    takenAtMs = performance.now()
    const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), DATABASE_TIMEOUT_MS).unref())
    sample = Promise.race([read().catch(() => null), late])
    return sample
  }
}

function showPools(registers: Registry[], { raster }: MetricSources): void {
  const pools = () => Object.entries(raster().pools)
  gauge(registers, 'groundtrack_raster_tasks', 'Raster tasks, queued or running', ['pool', 'state'], (set) => {
    for (const [pool, { queued, running }] of pools()) {
      set({ pool, state: 'queued' }, queued)
      set({ pool, state: 'running' }, running)
    }
  })
  gauge(registers, 'groundtrack_raster_processes', 'Child processes that read rasters', ['pool'], (set) => {
    for (const [pool, { children }] of pools()) set({ pool }, children)
  })
  counter(registers, 'groundtrack_raster_tasks_total', 'Raster tasks by how they ended', ['pool', 'outcome'], (set) => {
    for (const [pool, { completed, failed, refused, cancelled }] of pools())
      for (const [outcome, count] of Object.entries({ completed, failed, refused, cancelled })) set({ pool, outcome }, count)
  })
  counter(registers, 'groundtrack_raster_process_ends_total', 'Child processes that were ended, by cause', ['pool', 'cause'], (set) => {
    for (const [pool, { crashed, timedOut, outOfMemory, recycled }] of pools())
      for (const [cause, count] of Object.entries({ crashed, timed_out: timedOut, out_of_memory: outOfMemory, recycled }))
        set({ pool, cause }, count)
  })
  counter(registers, 'groundtrack_raster_busy_seconds_total', 'Time that child processes spent on tasks', ['pool'], (set) => {
    for (const [pool, { busyMs }] of pools()) set({ pool }, busyMs / 1_000)
  })
}

function showCaches(registers: Registry[], { raster }: MetricSources): void {
  const caches = () => Object.entries(raster().caches)
  counter(registers, 'groundtrack_cache_requests_total', 'Requests to caches, by result', ['cache', 'result'], (set) => {
    for (const [cache, { hits, misses, joined }] of caches())
      for (const [result, count] of Object.entries({ hit: hits, miss: misses, joined })) set({ cache, result }, count)
  })
  counter(registers, 'groundtrack_cache_evictions_total', 'Entries that caches dropped to make room', ['cache'], (set) => {
    for (const [cache, { evictions }] of caches()) set({ cache }, evictions)
  })
  gauge(registers, 'groundtrack_cache_bytes', 'Size of caches', ['cache'], (set) => {
    for (const [cache, { bytes }] of caches()) set({ cache }, bytes)
  })
}
