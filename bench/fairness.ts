/** Two organizations, one of them hostile by every means at once: what the other sees of it, against a quiet run. */
import { parseArgs } from 'node:util'
import { openLab } from '../test/support/service.ts'
import { percentile } from './lib/scenes.ts'
import { count } from './lib/tenant-calls.ts'
import { attackApart, behaveApart, makeTenant, type Kind, type Seen } from './lib/tenants.ts'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '30' }, blocks: { type: 'string', default: '2' } } })
const BLOCK_MS = (Number(values.seconds) * 1_000) / Number(values.blocks)
const MAX_RATIO = 3
const KINDS: readonly Kind[] = ['tile', 'search', 'write']

const shown = (value: number) => value.toFixed(1).padStart(8)

/** One line of the table; the larger of the two ratios. */
function compare(name: string, calm: readonly number[], rough: readonly number[]): number {
  const parts = [0.5, 0.95].map((part) => ({ calm: percentile(calm, part), rough: percentile(rough, part) }))
  const ratios = parts.map(({ calm, rough }) => rough / calm)
  const figures = [...parts.map(({ calm }) => calm), ...parts.map(({ rough }) => rough)].map(shown).join('')
  console.log(
    `  ${name.padEnd(12)}${figures}   ${ratios.map((ratio) => ratio.toFixed(2).padStart(6)).join(' ')}   ` +
      `of ${calm.length} and ${rough.length}`,
  )
  return Math.max(...ratios)
}

const lab = openLab()
let isFair = true
try {
  const dataDir = lab.dataDir()
  const { baseUrl, pid } = await lab.start({ env: { DATA_DIR: dataDir, DEMO: '0', LOG_LEVEL: 'warn' } })
  const good = await makeTenant(baseUrl, dataDir, 'good')
  const bad = await makeTenant(baseUrl, dataDir, 'bad')
  await behaveApart(good, 3_000, pid) // Warms up.
  const quiet: Seen[] = []
  const beside: Seen[] = []
  const hostile: Record<string, number> = {}
  for (let block = 0; block < Number(values.blocks); block++) {
    quiet.push(await behaveApart(good, BLOCK_MS, pid))
    const attacker = attackApart(bad)
    beside.push(await behaveApart(good, BLOCK_MS, pid))
    count(hostile, await attacker.stop())
  }
  const refused: Record<string, number> = {}
  for (const seen of beside) count(refused, seen.refused)
  console.log('ms until answered  quiet p50, p95, attacked p50, p95, ratios')
  for (const kind of KINDS) {
    const of = (all: readonly Seen[]) => all.flatMap((seen) => seen.latenciesMs[kind])
    isFair = compare(kind, of(quiet), of(beside)) < MAX_RATIO && isFair
  }
  console.log('ms that the event loop computed meanwhile, for anybody: where the machine is busy with other things, look here')
  for (const kind of KINDS) {
    const of = (all: readonly Seen[]) => all.flatMap((seen) => seen.loopMs[kind])
    compare(kind, of(quiet), of(beside))
  }
  console.log(
    `  refused to the well-behaved: ${JSON.stringify(refused)}; answers to the hostile, by status: ${JSON.stringify(hostile)}; ` +
      `aim: under ${MAX_RATIO} times`,
  )
} finally {
  await lab.close()
}
process.exit(isFair ? 0 : 1)
