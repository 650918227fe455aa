/** Federated search over twenty sources of which two hang, against the deadline of a source; memory during a stream of 10,000 scenes. */
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

const { values } = parseArgs({ options: { searches: { type: 'string', default: '24' }, scenes: { type: 'string', default: '10000' } } })
const [SEARCHES, SCENES] = [Number(values.searches), Number(values.scenes)]
const SOURCES = 20
const HANGING = 2
const SIDE_BY_SIDE = 4
/** As `catalog.federated_search` has it, and how much above it is still good. */
const DEADLINE_MS = 5_000
const TOLERANCE = 1.1
/** What a host takes for a page. */
const ANSWER_MS = 150
/** The heap grows until it is worth collecting, so one stream says little: what later ones add to earlier ones does. */
const ROUNDS = 24
const FLAT_MB = 20
const SAMPLE_MS = 50

const nameOf = (index: number) => `host-${String(index).padStart(2, '0')}`
const isHanging = (index: number) => index < HANGING

const held: ServerResponse[] = []
const hosts = createServer((request, response) => {
  void (async () => {
    const [, host] = request.url!.split('/')
    const body = JSON.parse((await text(request)) || '{}') as { limit?: number; token?: string }
    if (isHanging(Number(host!.slice(-2)))) return void held.push(response)
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

async function federated({ baseUrl }: Service, { token }: Owner): Promise<void> {
  const took: number[] = []
  const search = async () => {
    const began = performance.now()
    const { features, sources } = await ok(baseUrl, token, 'catalog.federated_search', { bbox: [0, 0, 1, 1], limit: 50 })
    took.push(performance.now() - began)
    const failed = sources.filter(({ error }: { error: string | null }) => error !== null)
    if (features.length !== 50 || sources.length !== SOURCES || failed.length !== HANGING)
      throw new Error(`${features.length} scenes, ${failed.length} of ${sources.length} sources failed`)
  }
  for (let done = 0; done < SEARCHES; done += SIDE_BY_SIDE) await Promise.all(Array.from({ length: SIDE_BY_SIDE }, search))
  const [p50, p95] = [percentile(took, 0.5), percentile(took, 0.95)]
  console.log(
    `federated search, ${SOURCES} sources, ${HANGING} hang, ${took.length} searches, ${SIDE_BY_SIDE} at a time: ` +
      `p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms, longest ${Math.max(...took).toFixed(0)} ms; ` +
      `a source has ${DEADLINE_MS} ms, so p95 is at ${((p95 / DEADLINE_MS) * 100).toFixed(1)}% of it: ` +
      `${p95 <= DEADLINE_MS * TOLERANCE ? 'met' : 'NOT MET'} (at most 110%)`,
  )
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
  const service = await lab.start({ env: { DATA_DIR: lab.dataDir(), DEMO: '0', SANDBOX: '0', SOURCES: file, EGRESS_ALLOW: address } })
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
