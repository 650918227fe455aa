/** Normal load beside a hostile client and kill -9 at random: nothing acknowledged is lost, memory is flat, no 5xx for the normal one. */
import { readFileSync, readdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { call } from '../test/support/client.ts'
import { freePort } from '../test/support/port.ts'
import { openLab, postmasterOf, type Service } from '../test/support/service.ts'
import { count } from './lib/tenant-calls.ts'
import { attackApart, behaveApart, makeTenant, type Seen } from './lib/tenants.ts'

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '60' }, round: { type: 'string', default: '30' } } })
const ROUND_MS = Number(values.round) * 1_000
/** A multiple of eight: each quarter has as many rounds with the hostile client as without. */
const ROUNDS = Math.max(8, Math.ceil((Number(values.minutes) * 60_000) / ROUND_MS / 8) * 8)
/** One round in as many ends with kill -9. */
const KILL_EVERY = 5
/** Of the last quarter over the second. */
const MAX_GROWTH = 1.1
const MIB = 1024 ** 2

/** The processes and everything that they started, in MiB. A database outlives a service that was killed, so it is named beside it. */
function memoryOf(roots: readonly number[]): number {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const parent = /^PPid:\s+(\d+)$/m.exec(read(`/proc/${name}/status`))?.[1]
    if (parent) parents.set(Number(name), Number(parent))
  }
  const belongs = (pid: number): boolean => roots.includes(pid) || (parents.has(pid) && pid > 1 && belongs(parents.get(pid)!))
  let bytes = 0
  // Shared pages of the database count once for each process in Rss, and in parts in Pss.
  for (const pid of parents.keys())
    if (belongs(pid)) bytes += Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) * 1024
  return bytes / MIB
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return '' // It has ended.
  }
}

const mean = (part: readonly number[]) => part.reduce((sum, value) => sum + value, 0) / part.length

const lab = openLab()
let failed = false
try {
  const env = { DATA_DIR: lab.dataDir(), PORT: String(await freePort()), DEMO: '0' }
  let service: Service = await lab.start({ env })
  const { baseUrl } = service
  const good = await makeTenant(baseUrl, env.DATA_DIR, 'good')
  const bad = await makeTenant(baseUrl, env.DATA_DIR, 'bad')
  const memory: number[] = []
  const rounds: Seen[] = []
  const hostile: Record<string, number> = {}
  let kills = 0
  for (let round = 0; round < ROUNDS; round++) {
    const attacker = round % 2 === 1 ? attackApart(bad) : null
    const behaving = behaveApart(good, ROUND_MS)
    if (round % KILL_EVERY === KILL_EVERY - 1) {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * ROUND_MS * 0.8))
      await service.kill('SIGKILL')
      kills++
      service = await lab.start({ env })
    }
    rounds.push(await behaving)
    if (attacker) count(hostile, await attacker.stop())
    memory.push(memoryOf([service.pid, postmasterOf(env.DATA_DIR)!.pid]))
    const { refused } = rounds.at(-1)!
    if (round % 10 === 9 || Object.keys(refused).length > 0)
      console.log(
        `  round ${round + 1} of ${ROUNDS}${attacker ? ', attacked' : ''}: ${memory.at(-1)!.toFixed(0)} MiB, ${kills} kills, ` +
          `not answered with 200: ${JSON.stringify(refused)}`,
      )
  }
  const written = rounds.flatMap((seen) => seen.written)
  const refused: Record<string, number> = {}
  for (const seen of rounds) count(refused, seen.refused)
  let lost = 0
  for (const item_id of written) if ((await call(baseUrl, good.key, 'items.get', { item_id })).status !== 200) lost++
  const faults = Object.entries(refused).filter(([what]) => / 5\d\d$/.test(what))
  const quarters = [0, 1, 2, 3].map((n) => mean(memory.slice((n * ROUNDS) / 4, ((n + 1) * ROUNDS) / 4)))
  const growth = quarters[3]! / quarters[1]!
  console.log(`${ROUNDS} rounds of ${values.round} s, every other one beside a hostile client; ${kills} kills -9`)
  console.log(`  acknowledged writes: ${written.length}, lost: ${lost}`)
  console.log(
    `  memory by quarter: ${quarters.map((mib) => mib.toFixed(0)).join(', ')} MiB; ` +
      `last over second ${growth.toFixed(3)} (limit ${MAX_GROWTH})`,
  )
  console.log(`  answers 5xx to the well-behaved client: ${faults.reduce((sum, [, number]) => sum + number, 0)}`)
  console.log(`  all that was not answered with 200, by kind: ${JSON.stringify(refused)}; kills refuse and reset connections`)
  console.log(`  answers to the hostile client, by status: ${JSON.stringify(hostile)}`)
  failed = lost > 0 || faults.length > 0 || growth > MAX_GROWTH
} finally {
  await lab.close()
}
process.exitCode = failed ? 1 : 0
