/** Federated search with and without hosts that hang, refuse or limit requests; memory during a stream of 10,000 scenes. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createOwner, ok, type Owner } from '../test/support/client.ts'
import { openLab, type Service } from '../test/support/service.ts'
import { pageOf, registryOf } from './lib/hosts.ts'
import { percentile } from './lib/scenes.ts'

const { values } = parseArgs({
  options: {
    searches: { type: 'string', default: '80' },
    scenes: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '24' },
  },
})
const [SEARCHES, SCENES] = [Number(values.searches), Number(values.scenes)]
const SOURCES = 20
const SIDE_BY_SIDE = 4
const [MAX_TRIES, TRY_MS] = [120, 500]
/** How much slower searches can be with the failing hosts than without them. */
const TOLERANCE = 1.1
/** The faults of the first hosts. */
const FAULTS = ['hang', 'refuse', 'limit'] as const
/** What a host takes for a page. */
const ANSWER_MS = 150
/** The heap grows until it is worth collecting, so one stream says little: what later ones add to earlier ones does. */
const ROUNDS = Number(values.rounds)
const FLAT_MB = 20
const SAMPLE_MS = 50

const nameOf = (index: number) => `host-${String(index).padStart(2, '0')}`
const faultOf = (index: number): (typeof FAULTS)[number] | undefined => FAULTS[index]

const held: ServerResponse[] = []
const hosts = createServer((request, response) => {
  void (async () => {
    const [, host] = request.url!.split('/')
    const body = JSON.parse((await text(request)) || '{}') as { limit?: number; token?: string }
    const fault = faultOf(Number(host!.slice(-2)))
    if (fault === 'hang') return void held.push(response)
    if (fault === 'refuse') return void request.socket.destroy()
    if (fault === 'limit') return void response.writeHead(429, { 'retry-after': '30' }).end('{}')
    if (body.token === undefined) await pause(ANSWER_MS)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(pageOf(host!, `http://${request.headers.host}/${host}`, SCENES, body)))
  })()
})
await new Promise<void>((resolve) => void hosts.listen(0, '127.0.0.1', resolve))
const address = `127.0.0.1:${(hosts.address() as AddressInfo).port}`

const registry = registryOf(
  Array.from({ length: SOURCES }, (_, index) => nameOf(index)),
  address,
)

/** Searches of the good hosts alone and of all hosts take turns, so that both meet the same load. */
async function federated({ baseUrl }: Service, { token }: Owner): Promise<void> {
  const good = Array.from({ length: SOURCES }, (_, index) => index).filter((index) => faultOf(index) === undefined)
  const measure = async (source_ids: string[] | null): Promise<number> => {
    const began = performance.now()
    const { features, sources } = await ok(baseUrl, token, 'catalog.federated_search', { bbox: [0, 0, 1, 1], limit: 50, source_ids })
    const tookMs = performance.now() - began
    const failed = sources.filter(({ error }: { error: string | null }) => error !== null)
    if (features.length !== 50 || failed.length !== (source_ids ? 0 : FAULTS.length))
      throw new Error(`${features.length} scenes, ${failed.length} of ${sources.length} sources failed`)
    return tookMs
  }
  const first = await measure(null)
  await probed(baseUrl, token)
  const [alone, all]: [number[], number[]] = [[], []]
  for (let done = 0; done < SEARCHES; done += SIDE_BY_SIDE) {
    alone.push(...(await Promise.all(Array.from({ length: SIDE_BY_SIDE }, () => measure(good.map(nameOf))))))
    all.push(...(await Promise.all(Array.from({ length: SIDE_BY_SIDE }, () => measure(null)))))
  }
  const shown = (took: readonly number[]) => `p50 ${percentile(took, 0.5).toFixed(0)} ms, p95 ${percentile(took, 0.95).toFixed(0)} ms`
  const ratio = percentile(all, 0.95) / percentile(alone, 0.95)
  console.log(`the first search of all ${SOURCES} hosts, before they were probed: ${first.toFixed(0)} ms`)
  console.log(`${all.length} searches of the ${good.length} hosts that respond, ${SIDE_BY_SIDE} at a time: ${shown(alone)}`)
  console.log(
    `${all.length} searches of these and of hosts that ${FAULTS.join(', ')}: ${shown(all)}; ` +
      `p95 is ${ratio.toFixed(2)} times as long: ${ratio <= TOLERANCE ? 'met' : 'NOT MET'} (at most ${TOLERANCE})`,
  )
}

/** Waits until the probe at the start has found the hosts that fail. */
async function probed(baseUrl: string, token: string): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const { sources } = await ok(baseUrl, token, 'catalog.sources.list')
    if (sources.filter(({ status }: { status: string }) => status === 'unreachable').length === FAULTS.length) return
    await pause(TRY_MS)
  }
  throw new Error('The hosts were not probed')
}

/** The most memory that the service had while it streamed. */
async function streamed({ baseUrl, pid }: Service, { token }: Owner): Promise<number> {
  const memoryMb = () => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
  const before = memoryMb()
  const samples: number[] = []
  let lines = 0
  const timer = setInterval(() => samples.push(memoryMb()), SAMPLE_MS)
  const response = await fetch(`${baseUrl}/v1/op/catalog.search_stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ host_name: nameOf(SOURCES - 1), bbox: [0, 0, 1, 1], limit: SCENES }),
  })
  for await (const chunk of response.body!) {
    for (const byte of chunk) if (byte === 10) lines++
  }
  clearInterval(timer)
  if (lines !== SCENES + 1) throw new Error(`${lines} lines instead of ${SCENES + 1}`)
  return Math.max(before, ...samples)
}

const folder = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-bench-'))
const lab = openLab()
try {
  const file = path.join(folder, 'sources.json')
  writeFileSync(file, JSON.stringify(registry))
  const load = readFileSync('/proc/loadavg', 'utf8').split(' ').slice(0, 2).join(' ')
  console.log(`${os.availableParallelism()} cores, load average ${load}; wall times`)
  const service = await lab.start({
    env: { DATA_DIR: lab.dataDir(), DEMO: '0', SANDBOX: '0', SOURCES: file, EGRESS_ALLOW: address, OFFLINE: '0' },
  })
  const owner = await createOwner(service.baseUrl, 'bench@example.com')
  await federated(service, owner)
  const peaks: number[] = []
  for (let round = 0; round < ROUNDS; round++) peaks.push(await streamed(service, owner))
  const [early, late] = [Math.max(...peaks.slice(0, ROUNDS / 2)), Math.max(...peaks.slice(ROUNDS / 2))]
  const verdict = late - early <= FLAT_MB ? 'flat' : 'NOT FLAT'
  console.log(`${ROUNDS} streams of ${SCENES} scenes each, resident at most: ${peaks.map((mb) => mb.toFixed(0)).join(' ')} MB`)
  console.log(`at most ${early.toFixed(0)} MB in the first half of the streams, ${late.toFixed(0)} MB in the second: ${verdict}`)
} finally {
  await lab.close()
  for (const response of held) response.destroy()
  hosts.closeAllConnections()
  hosts.close()
  rmSync(folder, { recursive: true, force: true })
}
