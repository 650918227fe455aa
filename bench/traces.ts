/** What traces cost: CPU of a call without the setting, in percent, and with it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { traced } from '#core/tracing.ts'
import { call, createOwner, ok } from '../test/support/client.ts'
import { openLab, type Service } from '../test/support/service.ts'
import { loopCpuMs, median } from './lib/cpu.ts'

const { values } = parseArgs({ options: { calls: { type: 'string', default: '2000' }, rounds: { type: 'string', default: '5' } } })
const CALLS = Number(values.calls)
const ROUNDS = Number(values.rounds)
const TARGET_PERCENT = 1
const SEAMS = 1_000_000
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
  for (let round = 0; round <= ROUNDS; round++) {
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
  const rounds: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const before = loopCpuMs(service.pid)
    await Promise.all(Array.from({ length: CONNECTIONS }, () => some(Math.ceil(CALLS / CONNECTIONS))))
    rounds.push((loopCpuMs(service.pid) - before) / CALLS)
  }
  return median(rounds.slice(1)) // The first warms up.
}

let spans = 0
const collector = createServer((request, response) => {
  let text = ''
  request.setEncoding('utf8').on('data', (part: string) => (text += part))
  request.on('end', () => {
    spans += text.split('"spanId"').length - 1
    response.end('{}')
  })
}).listen(0, '127.0.0.1')
const lab = openLab()
try {
  const dataDir = lab.dataDir()
  const start = (env: Record<string, string>) => lab.start({ env: { DATA_DIR: dataDir, DEMO: '0', LOG_LEVEL: 'info', ...env } })
  const off = await start({})
  const owner = await createOwner(off.baseUrl, 'bench@example.com')
  const { key } = await ok(off.baseUrl, owner.token, 'api_keys.create', { name: 'bench', permissions: ['read'], rate_limit: 2_000_000_000 })
  const offMs = await callCost(off, key)
  await off.kill('SIGTERM')
  const { port } = collector.address() as AddressInfo
  const on = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` })
  const onMs = await callCost(on, key)
  await on.kill('SIGTERM')
  const perCall = spans / ((ROUNDS + 1) * CALLS)
  const seamNs = await seamCost()
  const percent = ((perCall * seamNs) / (offMs * 1e6)) * 100
  console.log(`A call (organizations.get) takes ${offMs.toFixed(3)} ms of CPU without traces and ${onMs.toFixed(3)} ms with them.`)
  console.log(
    `It has ${perCall.toFixed(1)} spans; each place costs ${seamNs.toFixed(0)} ns without traces: ${percent.toFixed(2)}% of the call.`,
  )
  console.log(percent < TARGET_PERCENT ? `Below ${TARGET_PERCENT}%.` : `Not below ${TARGET_PERCENT}%.`)
  process.exitCode = percent < TARGET_PERCENT ? 0 : 1
} finally {
  await lab.close()
  collector.close()
}
