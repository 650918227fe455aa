/**
 * What traces cost: CPU of a call without the setting, compared with a service that has no place to trace, and with the setting.
 *
 * Three services on one database take turns: one whose tracing module is replaced by nothing (`lib/no-tracing.ts`), one as it is
 * installed, and one that sends its spans. Each turn measures the CPU time of the event loop for the same calls, so that whatever else
 * the machine does meets all three alike; the overhead is the median of the differences between neighbouring turns, with the middle half
 * of them as its spread. Another figure does not depend on turns: places to trace in a call times the cost of one.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { traced } from '#core/tracing.ts'
import { call, createOwner, ok } from '../test/support/client.ts'
import { openLab, type Service } from '../test/support/service.ts'
import { loopCpuMs, median } from './lib/cpu.ts'

const { values } = parseArgs({ options: { calls: { type: 'string', default: '500' }, rounds: { type: 'string', default: '20' } } })
const CALLS = Number(values.calls)
const ROUNDS = Number(values.rounds)
const WARM_UP_ROUNDS = 3
const TARGET_PERCENT = 1
const SEAMS = 1_000_000
const SEAM_ROUNDS = 5
const CONNECTIONS = 8

/** Nanoseconds of CPU that a place which can be traced adds if nothing is: a function and a promise. */
async function seamCost(): Promise<number> {
  const work = async (): Promise<number> => 1
  const timed = async (once: () => Promise<number>): Promise<number> => {
    const before = process.cpuUsage()
    for (let n = 0; n < SEAMS; n++) await once()
    const { user, system } = process.cpuUsage(before)
    return ((user + system) * 1_000) / SEAMS
  }
  const rounds: number[] = []
  for (let round = 0; round <= SEAM_ROUNDS; round++) {
    const plain = await timed(work)
    rounds.push((await timed(() => traced('bench', async () => await work()))) - plain)
  }
  return median(rounds.slice(1))
}

/** CPU milliseconds of the event loop for one call. */
async function callCost(service: Service, token: string): Promise<number> {
  const some = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++) {
      const { status } = await call(service.baseUrl, token, 'organizations.get', {})
      if (status !== 200) throw new Error(`answered ${status}`)
    }
  }
  const before = loopCpuMs(service.pid)
  await Promise.all(Array.from({ length: CONNECTIONS }, () => some(Math.ceil(CALLS / CONNECTIONS))))
  return (loopCpuMs(service.pid) - before) / (Math.ceil(CALLS / CONNECTIONS) * CONNECTIONS)
}

const quantile = (numbers: readonly number[], share: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(share * numbers.length))]!

let spans = 0
const collector = createServer((request, response) => {
  let text = ''
  request.setEncoding('utf8').on('data', (part: string) => (text += part))
  request.on('end', () => {
    spans += text.split('"spanId"').length - 1
    response.end('{}')
  })
}).listen(0, '127.0.0.1')
await once(collector, 'listening')
const lab = openLab()
try {
  const dataDir = lab.dataDir()
  const { port } = collector.address() as AddressInfo
  const start = (env: Record<string, string>, nodeOptions: readonly string[] = []) =>
    lab.start({ env: { DATA_DIR: dataDir, DEMO: '0', LOG_LEVEL: 'info', ...env }, nodeOptions })
  const off = await start({})
  const none = await start({}, ['--import', path.join(import.meta.dirname, 'lib/no-tracing.ts')])
  const on = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` })
  const owner = await createOwner(off.baseUrl, 'bench@example.com')
  const { key } = await ok(off.baseUrl, owner.token, 'api_keys.create', { name: 'bench', permissions: ['read'], rate_limit: 2_000_000_000 })
  const costs: { none: number; off: number; on: number }[] = []
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
    // The order of the two that are compared changes, so that neither always comes after the other.
    const turns = round % 2 === 0 ? ([none, off, on] as const) : ([off, none, on] as const)
    const measured = new Map<Service, number>()
    for (const service of turns) measured.set(service, await callCost(service, key))
    if (round >= WARM_UP_ROUNDS) costs.push({ none: measured.get(none)!, off: measured.get(off)!, on: measured.get(on)! })
  }
  for (const service of [none, off, on]) await service.kill('SIGTERM')
  const of = (name: 'none' | 'off' | 'on') => median(costs.map((cost) => cost[name]))
  const differences = costs.map((cost) => ((cost.off - cost.none) / cost.none) * 100)
  const perCall = spans / ((WARM_UP_ROUNDS + ROUNDS) * Math.ceil(CALLS / CONNECTIONS) * CONNECTIONS)
  const seamNs = await seamCost()
  const percent = ((perCall * seamNs) / (of('off') * 1e6)) * 100
  const shown = (value: number) => `${value.toFixed(2)}%`
  console.log(
    `A call (organizations.get) takes ${of('none').toFixed(3)} ms of CPU without places to trace, ${of('off').toFixed(3)} ms with them, ` +
      `and ${of('on').toFixed(3)} ms with traces; medians of ${ROUNDS} turns of ${CALLS} calls.`,
  )
  console.log(
    `Overhead when off: ${shown(median(differences))}; half of the turns between ${shown(quantile(differences, 0.25))} and ` +
      `${shown(quantile(differences, 0.75))}.`,
  )
  console.log(`By the places: ${perCall.toFixed(1)} in a call at ${seamNs.toFixed(0)} ns each are ${shown(percent)}.`)
  const isBelow = median(differences) < TARGET_PERCENT && percent < TARGET_PERCENT
  console.log(isBelow ? `Below ${TARGET_PERCENT}%.` : `Not below ${TARGET_PERCENT}%.`)
  process.exitCode = isBelow ? 0 : 1
} finally {
  await lab.close()
  collector.close()
}
