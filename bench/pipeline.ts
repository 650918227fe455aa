/** A read through all nine stages against a bare Fastify route with the same SELECTs: requests per second and CPU per call. */
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { createOwner, ok } from '../test/support/client.ts'
import { embeddedUrl, openLab, postmasterOf } from '../test/support/service.ts'
import { median, treeCpuMs } from './lib/cpu.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    requests: { type: 'string', default: '3000' },
    connections: { type: 'string', default: '32' },
  },
})
const ROUNDS = Number(values.rounds)
const REQUESTS = Number(values.requests)
const CONNECTIONS = Number(values.connections)
const TARGET = 0.6
/** What a person may call in an hour; the first round warms up. */
const CALLS_PER_HOUR = 36_000
if ((ROUNDS + 1) * REQUESTS > CALLS_PER_HOUR)
  throw new Error(`${ROUNDS} rounds of ${REQUESTS} are more than ${CALLS_PER_HOUR} calls an hour`)
const here = import.meta.dirname

interface Measured {
  perSecond: number
  p50: number
  p99: number
  serverMs: number
  databaseMs: number
}

const lab = openLab()
const children: ChildProcess[] = []
async function compare(): Promise<void> {
  const dataDir = lab.dataDir()
  // As it is usually run, with a log line for each call.
  const service = await lab.start({ env: { DATA_DIR: dataDir, DEMO: '0', LOG_LEVEL: 'info' } })
  const bare = await startBare(embeddedUrl(dataDir))
  const postmaster = postmasterOf(dataDir)!.pid

  for (const operation of ['organizations.get', 'projects.get']) {
    // A person each: nobody comes near the calls that a person may make in an hour.
    const owner = await createOwner(service.baseUrl, `${operation}@example.com`)
    const { id: projectId } = await ok(service.baseUrl, owner.token, 'projects.create', { name: 'Bench' })
    const keyInput = { name: 'bench', permissions: ['read'], rate_limit: 2_000_000_000 }
    const { key } = await ok(service.baseUrl, owner.token, 'api_keys.create', keyInput)
    const input = operation === 'projects.get' ? { project_id: projectId } : {}
    const expected = JSON.stringify(await ok(service.baseUrl, owner.token, operation, input))
    const target = (baseUrl: string, credential: string) => ({
      url: `${baseUrl}/v1/op/${operation}`,
      credential,
      body: JSON.stringify(input),
      expected,
    })
    const bareTarget = {
      ...target(bare.url, 'none'),
      url: `${bare.url}/${operation}?organization=${owner.organizationId}&user=${owner.userId}&project=${projectId}`,
    }
    const sides = [
      { name: 'bare route', pid: bare.pid, target: bareTarget, measured: [] as Measured[] },
      { name: 'user token', pid: service.pid, target: target(service.baseUrl, owner.token), measured: [] as Measured[] },
      { name: 'API key', pid: service.pid, target: target(service.baseUrl, key), measured: [] as Measured[] },
    ]
    for (let round = 0; round <= ROUNDS; round++) {
      for (const side of sides) {
        const measured = await measure(side.target, side.pid, postmaster)
        if (round > 0) side.measured.push(measured) // The first round only warms up.
      }
    }
    print(operation, sides)
  }
}

function print(operation: string, sides: { name: string; measured: Measured[] }[]): void {
  console.log(`${operation}: ${ROUNDS} rounds of ${REQUESTS} requests over ${CONNECTIONS} connections, medians`)
  const [bare] = sides
  for (const { name, measured } of sides) {
    const of = (pick: (run: Measured) => number) => median(measured.map(pick))
    const ratio = median(measured.map((run, round) => run.perSecond / bare!.measured[round]!.perSecond))
    const cpu = of((run) => run.serverMs) + of((run) => run.databaseMs)
    const bareCpu = median(bare!.measured.map((run) => run.serverMs)) + median(bare!.measured.map((run) => run.databaseMs))
    const against =
      name === bare!.name
        ? ''
        : `  ${(ratio * 100).toFixed(0)}% of the bare route (target ≥ ${TARGET * 100}%), by CPU ${((bareCpu / cpu) * 100).toFixed(0)}%`
    const perSecond = of((run) => run.perSecond).toFixed(0)
    console.log(
      `  ${name.padEnd(11)} ${perSecond.padStart(6)}/s  ` +
        `p50 ${of((run) => run.p50).toFixed(1)} ms  p99 ${of((run) => run.p99).toFixed(1)} ms  ` +
        `CPU a call: server ${of((run) => run.serverMs).toFixed(3)} ms, PostgreSQL ${of((run) => run.databaseMs).toFixed(3)} ms${against}`,
    )
  }
}

/** The load comes from a process of its own, so that its work is not counted as the server's. */
async function measure(target: object, serverPid: number, postmaster: number): Promise<Measured> {
  const before = { server: cpuMs(serverPid), database: treeCpuMs(postmaster) }
  const load = spawn(process.execPath, [path.join(here, 'load/generator.ts')], { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(load)
  load.stdin!.end(JSON.stringify({ ...target, requests: REQUESTS, connections: CONNECTIONS }))
  let output = ''
  load.stdout!.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const [code] = (await once(load, 'close')) as [number]
  if (code !== 0) throw new Error(`the load generator failed: ${output}`)
  const { perSecond, p50, p99 } = JSON.parse(output) as Measured
  return {
    perSecond,
    p50,
    p99,
    serverMs: (cpuMs(serverPid) - before.server) / REQUESTS,
    databaseMs: (treeCpuMs(postmaster) - before.database) / REQUESTS,
  }
}

async function startBare(databaseUrl: string): Promise<{ url: string; pid: number }> {
  const bare = spawn(process.execPath, [path.join(here, 'load/bare.ts')], {
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(bare)
  const [line] = (await once(bare.stdout!.setEncoding('utf8'), 'data')) as [string]
  return { url: line.trim(), pid: bare.pid! }
}

const MS_PER_TICK = 10

/** Of one process alone. */
function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK
}

try {
  await compare()
} finally {
  for (const child of children) child.kill('SIGKILL')
  await lab.close()
}
