/** Kills the service 50 times during writes, on the embedded PostgreSQL and on a server: nothing acknowledged may be lost. */
import { parseArgs } from 'node:util'
import { campaign, type CampaignResult } from '../test/faults/kill.ts'
import { startServerPostgres } from '../test/support/server-postgres.ts'
import { openLab } from '../test/support/service.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string' },
    quiet: { type: 'boolean', default: false },
  },
})
const kills = Number(values.kills)
const seed = Number(values.seed)
console.log(`seed ${seed} (--seed=${seed} repeats the choices)`)

let failed = false
if (values.only !== 'server') await report('embedded PostgreSQL', null)
if (values.only !== 'embedded') await onServer()
process.exitCode = failed ? 1 : 0

async function onServer(): Promise<void> {
  const given = process.env['DATABASE_URL']
  if (given) return await report('server PostgreSQL at DATABASE_URL', given)
  const server = await startServerPostgres()
  if (!server) return console.log('server PostgreSQL: skipped, none is installed in /usr/lib/postgresql and DATABASE_URL is not set')
  try {
    await report(`server PostgreSQL ${server.version}`, await server.createDatabase('faults'))
  } finally {
    await server.stop()
  }
}

async function report(name: string, databaseUrl: string | null): Promise<void> {
  const lab = openLab()
  const began = performance.now()
  try {
    const result = await campaign(lab, { seed, kills, databaseUrl, onRound: values.quiet ? () => {} : (line) => console.log(`  ${line}`) })
    print(name, result, (performance.now() - began) / 1000)
  } finally {
    await lab.close()
  }
}

function print(name: string, result: CampaignResult, seconds: number): void {
  const { faults, serviceKills, acknowledged, lost, violations, idempotencyKeys, effects, secondsPerRestart } = result
  console.log(
    `${name}: ${serviceKills} kills -9 of the service, ${acknowledged} acknowledged writes, ${lost.length} lost, ` +
      `${violations.length} violations, in ${seconds.toFixed(0)} s`,
  )
  console.log(
    `  faults: ${Object.entries(faults)
      .map(([fault, count]) => `${fault} ${count}`)
      .join(', ')}; ${secondsPerRestart.toFixed(2)} s from start to banner`,
  )
  console.log(`  idempotency: ${idempotencyKeys} keys, ${effects} effects`)
  for (const line of [...lost, ...violations].slice(0, 20)) console.log(`  ! ${line}`)
  if (lost.length > 0 || violations.length > 0 || effects !== idempotencyKeys) failed = true
}
