/** Registers 100,000 STAC items through items.import_stac: items a second, and the memory of the service while it does. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { DEMO_EMAIL, DEMO_PASSWORD } from '../sandbox/demo/account.ts'
import { START_FLAGS } from '../test/support/service.ts'
import { loopCpuMs, treeCpuMs } from './lib/cpu.ts'
import { random, sceneAt, toStac } from './lib/scenes.ts'

const { values } = parseArgs({
  options: {
    items: { type: 'string', default: '100000' },
    batch: { type: 'string', default: '2500' },
    singles: { type: 'string', default: '300' },
  },
})
const [ITEMS, BATCH, SINGLES] = [Number(values.items), Number(values.batch), Number(values.singles)]

const dataDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-bench-'))
const service = spawn(process.execPath, [...START_FLAGS, path.join(import.meta.dirname, '../src/main.ts')], {
  env: { ...process.env, DATA_DIR: dataDir, PORT: '0', DATABASE_URL: '', DEMO: '1', LOG_LEVEL: 'warn' },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const ended = new Promise((resolve) => service.once('exit', resolve))

const baseUrl = await new Promise<string>((resolve, reject) => {
  let said = ''
  service.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString()
    const match = /Service\s+(http\S+)/.exec(said)
    if (match) resolve(match[1]!)
  })
  service.once('exit', () => reject(new Error(`the service did not start: ${said}`)))
})

// oxlint-disable-next-line typescript/no-explicit-any
async function post(route: string, body: object | string, token?: string): Promise<any> {
  const answer = await fetch(baseUrl + route, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const value = await answer.json()
  if (answer.status >= 300) throw new Error(`${route} answered ${answer.status}: ${JSON.stringify(value)}`)
  return value
}

/** Of the event loop, and of the database with all of its processes. */
const cpuMs = () => {
  const postmaster = Number(readFileSync(path.join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
  return { loop: loopCpuMs(service.pid!), database: treeCpuMs(postmaster) }
}
const memoryMb = () => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))![1]) / 1024
const loadAverage = () => readFileSync('/proc/loadavg', 'utf8').split(' ').slice(0, 2).join(' ')

try {
  const { access_token: token } = await post('/auth/sign-in', { email: DEMO_EMAIL, password: DEMO_PASSWORD })
  const { id: project_id } = await post('/v1/op/projects.create', { name: 'Import' }, token)
  console.log(
    `${ITEMS} items in batches of ${BATCH}, three assets each, one caller, embedded PostgreSQL with fsync; ` +
      `${os.availableParallelism()} cores, load average ${loadAverage()}`,
  )

  const { id: other_id } = await post('/v1/op/projects.create', { name: 'One by one' }, token)
  const draw = random(1)
  let began = performance.now()
  for (let i = 0; i < SINGLES; i++) {
    const { ring, datetime } = sceneAt(i, draw)
    await post(
      '/v1/op/items.create',
      {
        project_id: other_id,
        type: 'external_reference',
        name: `single ${i}`,
        geometry: { type: 'Polygon', coordinates: [ring] },
        datetime: datetime.toISOString(),
      },
      token,
    )
  }
  const singleRate = SINGLES / ((performance.now() - began) / 1000)
  console.log(`floor: items.create one by one, ${singleRate.toFixed(0)} items/s`)

  const [before, cpuBefore] = [memoryMb(), cpuMs()]
  const memory: number[] = []
  let inService = 0
  let bytes = 0
  for (let done = 0; done < ITEMS; done += BATCH) {
    const lines = Array.from({ length: Math.min(BATCH, ITEMS - done) }, (_, i) => JSON.stringify(toStac(sceneAt(done + i, draw))))
    const body = JSON.stringify({ project_id, ndjson: lines.join('\n') })
    bytes += body.length
    began = performance.now()
    const { created, errors } = await post('/v1/op/items.import_stac', body, token)
    inService += performance.now() - began
    if (created !== lines.length || errors.length > 0)
      throw new Error(`registered ${created} of ${lines.length}: ${JSON.stringify(errors[0])}`)
    memory.push(memoryMb())
    if (memory.length % 10 === 0)
      console.log(
        `  ${String(done + lines.length).padStart(7)} items, ${((done + lines.length) / (inService / 1000)).toFixed(0)} ` +
          `items/s so far, service ${memory.at(-1)!.toFixed(0)} MB`,
      )
  }
  const rate = ITEMS / (inService / 1000)
  const cpuAfter = cpuMs()
  const perItem = (part: 'loop' | 'database') => `${(((cpuAfter[part] - cpuBefore[part]) / ITEMS) * 1000).toFixed(0)} µs`
  console.log(`CPU of an item: ${perItem('loop')} in the event loop, ${perItem('database')} in PostgreSQL`)
  const half = Math.floor(memory.length / 2)
  const peak = (part: readonly number[]) => Math.max(...part)
  console.log(`import: ${rate.toFixed(0)} items/s (${(bytes / 1e6).toFixed(0)} MB of JSON), ${(rate / singleRate).toFixed(1)} x the floor`)
  console.log(
    `memory of the service: ${before.toFixed(0)} MB before, peak ${peak(memory.slice(0, half)).toFixed(0)} MB in the ` +
      `first half, ${peak(memory.slice(half)).toFixed(0)} MB in the second`,
  )
  const { item_count } = await post('/v1/op/projects.get', { project_id }, token)
  if (item_count !== ITEMS) throw new Error(`the project counts ${item_count}`)
  const again = Array.from({ length: BATCH }, (_, i) =>
    JSON.stringify({ type: 'Feature', id: `S2_${String(i).padStart(8, '0')}`, geometry: null, properties: {}, assets: {} }),
  )
  console.log(
    'the first batch again: ' +
      `${JSON.stringify(await post('/v1/op/items.import_stac', { project_id, ndjson: again.join('\n') }, token))}; ` +
      `load average ${loadAverage()}`,
  )
} finally {
  service.kill('SIGTERM')
  await ended
  rmSync(dataDir, { recursive: true, force: true })
}
