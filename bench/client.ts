/**
 * What the client costs over bare `fetch`, and how soon the command line says something.
 *
 * Calls go to a small server in a process of its own, one after the other, client and bare `fetch` by turns; CPU time of this process
 * is what counts, because wall time on a shared machine is mostly somebody else's. The command line is started a few times.
 */
import { fork, spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import path from 'node:path'
import { Client } from '../packages/client/src/core.ts'

const ROUNDS = 7
const CALLS = 150
const STARTS = 5
const ANSWER = JSON.stringify({ projects: [{ id: '0199f2c4-5c1a-7b3e-9a44-0d6f3c1b2a10', name: 'Demo', item_count: 12 }], total: 1 })
const CLI = path.join(import.meta.dirname, '../packages/cli/bin/groundtrack.mjs')

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

function serve(): void {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER))
  })
  server.listen(0, '127.0.0.1', () => process.send!(server.address()))
}

async function cpuMsPerCall(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  for (let n = 0; n < CALLS; n++) await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / CALLS
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
  await cpuMsPerCall(bare)
  await cpuMsPerCall(ours)
  const pairs: [number, number][] = []
  for (let round = 0; round < ROUNDS; round++) pairs.push([await cpuMsPerCall(bare), await cpuMsPerCall(ours)])
  child.kill()
  const [plain, made] = [median(pairs.map(([a]) => a)), median(pairs.map(([, b]) => b))]
  const ratio = median(pairs.map(([a, b]) => b / a))
  console.log(`bare fetch  ${plain.toFixed(3)} ms of CPU a call`)
  const more = `${((ratio - 1) * 100).toFixed(1)}% more (median of ${ROUNDS} rounds of ${CALLS} calls)`
  console.log(`client      ${made.toFixed(3)} ms of CPU a call, ${more}`)
}

function starts(): void {
  for (const args of [['--version'], ['--help'], ['items', 'list', '--help']]) {
    const times = Array.from({ length: STARTS }, () => {
      const began = performance.now()
      spawnSync(process.execPath, [CLI, ...args], { stdio: ['ignore', 'pipe', 'ignore'] })
      return performance.now() - began
    })
    const least = Math.min(...times)
    console.log(
      `groundtrack ${args.join(' ').padEnd(18)} ${least.toFixed(0)} ms at best, ${median(times).toFixed(0)} ms in the middle, to its end`,
    )
  }
}

if (process.argv[2] === 'serve') serve()
else {
  await overhead()
  starts()
}
