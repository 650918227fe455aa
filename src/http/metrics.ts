import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

export interface Metrics {
  observeCall(operation: string, status: number, seconds: number): void
  observeFault(operation: string): void
  text(): Promise<string>
  readonly contentType: string
}

const CALL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** `state` is read at each scrape. */
export function createMetrics(state: () => Readonly<Record<string, number>>): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const calls = new Histogram({
    name: 'groundtrack_call_seconds',
    help: 'Duration of operation calls',
    labelNames: ['operation', 'status'],
    buckets: CALL_SECONDS,
    registers: [registry],
  })
  const faults = new Counter({
    name: 'groundtrack_faults_total',
    help: 'Internal errors, by operation or task',
    labelNames: ['operation'],
    registers: [registry],
  })
  new Gauge({
    name: 'groundtrack_state',
    help: 'Current state of connections, caches and the raster pool',
    labelNames: ['name'],
    registers: [registry],
    collect() {
      for (const [name, value] of Object.entries(state())) this.set({ name }, value)
    },
  })
  return {
    observeCall: (operation, status, seconds) => calls.observe({ operation, status: String(status) }, seconds),
    observeFault: (operation) => faults.inc({ operation }),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
