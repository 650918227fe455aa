/** Two organizations, one of them hostile by every means at once: what the other sees of it, against a quiet run. */
import { parseArgs } from 'node:util'
import { openLab } from '../test/support/service.ts'
import { percentile } from './lib/scenes.ts'
import { attackApart, behaveApart, makeTenant, type Kind, type Seen } from './lib/tenants.ts'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '30' }, blocks: { type: 'string', default: '2' } } })
const BLOCK_MS = (Number(values.seconds) * 1_000) / Number(values.blocks)
const MAX_RATIO = 3
const KINDS: readonly Kind[] = ['tile', 'search', 'write']

const merge = (all: readonly Seen[], kind: Kind) => all.flatMap((seen) => seen.latenciesMs[kind])
const shown = (value: number) => value.toFixed(1).padStart(7)

const lab = openLab()
let isFair = true
try {
  const dataDir = lab.dataDir()
  const { baseUrl } = await lab.start({ env: { DATA_DIR: dataDir, DEMO: '0', LOG_LEVEL: 'warn' } })
  const good = await makeTenant(baseUrl, dataDir, 'good')
  const bad = await makeTenant(baseUrl, dataDir, 'bad')
  await behaveApart(good, 3_000) // Warms up.
  const quiet: Seen[] = []
  const beside: Seen[] = []
  for (let block = 0; block < Number(values.blocks); block++) {
    quiet.push(await behaveApart(good, BLOCK_MS))
    const attacker = attackApart(bad)
    beside.push(await behaveApart(good, BLOCK_MS))
    attacker.kill('SIGKILL')
  }
  console.log('            quiet p50     p95   attacked p50     p95   ratio p50   p95')
  for (const kind of KINDS) {
    const [calm, rough] = [merge(quiet, kind), merge(beside, kind)]
    const [p50, p95] = [0.5, 0.95].map((part) => percentile(rough, part) / percentile(calm, part)) as [number, number]
    isFair &&= p50 < MAX_RATIO && p95 < MAX_RATIO
    const figures = [percentile(calm, 0.5), percentile(calm, 0.95), percentile(rough, 0.5), percentile(rough, 0.95)].map(shown)
    console.log(
      `  ${kind.padEnd(10)}${figures.join(' ')}       ${p50.toFixed(2)}  ${p95.toFixed(2)}   of ${calm.length} and ${rough.length}`,
    )
  }
  console.log(
    `  refused to the well-behaved: ${JSON.stringify(Object.assign({}, ...beside.map((seen) => seen.refused)))}; aim: under ` +
      `${MAX_RATIO} times`,
  )
} finally {
  await lab.close()
}
process.exit(isFair ? 0 : 1)
