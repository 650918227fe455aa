/**
 * What the client costs over bare `fetch`, and how soon the command line says something.
 *
 * Calls go to a small server in a process of its own, one after the other, client and bare `fetch` by turns and in pairs whose order
 * changes; CPU time of this process is what counts, because wall time on a shared machine is mostly somebody else's. The command line
 * is started a few times beside a Node that does nothing, by wall time to the first byte and by CPU.
 */
import { fork, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import path from 'node:path'
import { Client } from '../packages/client/src/core.ts'

const WARM_UP = 500
const PAIRS = 3_000
/** Of the calls, so many are cheap; the rest met a collection of garbage or somebody else's work. */
const KEPT = 0.9
const STARTS = 10
const TICKS_PER_SECOND = 100
const ANSWER = JSON.stringify({ projects: [{ id: '0199f2c4-5c1a-7b3e-9a44-0d6f3c1b2a10', name: 'Demo', item_count: 12 }], total: 1 })
const CLI = path.join(import.meta.dirname, '../packages/cli/bin/groundtrack.mjs')

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

function serve(): void {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER))
  })
  server.listen(0, '127.0.0.1', () => process.send!(server.address()))
}

async function cpuMs(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/** Without the dearest. */
function mean(values: readonly number[]): number {
  const kept = values.toSorted((a, b) => a - b).slice(0, Math.floor(values.length * KEPT))
  return kept.reduce((sum, value) => sum + value, 0) / kept.length
}

async function overhead(): Promise<void> {
  const child = fork(import.meta.filename, ['serve'])
  const { port } = await new Promise<{ port: number }>((resolve) =>
    child.once('message', (message) => resolve(message as { port: number })),
  )
  const baseUrl = `http://127.0.0.1:${port}`
  const client = new Client({ baseUrl, apiKey: 'svc_bench' })
  const bare = async () => {
    const response = await fetch(`${baseUrl}/v1/op/projects.list`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer svc_bench' },
      body: JSON.stringify({ limit: 10 }),
    })
    return await response.json()
  }
  const ours = () => client.call('projects.list', { limit: 10 }, {}, 'read')
  const [plain, generated]: [number[], number[]] = [[], []]
  for (let pair = -WARM_UP; pair < PAIRS; pair++) {
    const isFirst = pair % 2 === 0
    const first = await cpuMs(isFirst ? bare : ours)
    const second = await cpuMs(isFirst ? ours : bare)
    if (pair < 0) continue
    plain.push(isFirst ? first : second)
    generated.push(isFirst ? second : first)
  }
  child.kill()
  const more = (of: (values: readonly number[]) => number) => `${((of(generated) / of(plain) - 1) * 100).toFixed(1)}%`
  console.log(`bare fetch  ${mean(plain).toFixed(3)} ms of CPU a call`)
  console.log(`client      ${mean(generated).toFixed(3)} ms of CPU a call`)
  console.log(`that is ${more(mean)} more, by the median ${more(median)} (${PAIRS} pairs); the target is under 5%`)
}

/** CPU of children that have ended; to a hundredth of a second, so that only a sum over many says something. Linux alone tells. */
function childrenCpuMs(): number | null {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ')
    return ((Number(fields[13]) + Number(fields[14])) * 1_000) / TICKS_PER_SECOND
  } catch {
    return null
  }
}

function firstByteMs(args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    let first = 0
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    child.stdout.once('data', () => (first = performance.now() - began)).resume()
    child.on('error', reject).on('close', () => resolve(first))
  })
}

async function starts(): Promise<void> {
  for (const [name, args] of [
    ['node -e', ['-e', 'console.log(1)']],
    ['groundtrack --version', [CLI, '--version']],
    ['groundtrack --help', [CLI, '--help']],
    ['groundtrack items list --help', [CLI, 'items', 'list', '--help']],
  ] as const) {
    await firstByteMs(args) // Fills the cache of compiled code.
    const before = childrenCpuMs()
    const times: number[] = []
    for (let n = 0; n < STARTS; n++) times.push(await firstByteMs(args))
    const cpu = before === null ? '' : `, ${((childrenCpuMs()! - before) / STARTS).toFixed(0)} ms of CPU`
    console.log(
      `${name.padEnd(30)} first byte after ${Math.min(...times).toFixed(0)} ms at best, ${median(times).toFixed(0)} ms in the middle${cpu}`,
    )
  }
}

if (process.argv[2] === 'serve') serve()
else {
  await overhead()
  await starts()
}
