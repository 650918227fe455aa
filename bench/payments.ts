/** Kills the service 200 times at named points of payments: every payment that succeeded has one grant, and no hold is left behind. */
import { parseArgs } from 'node:util'
import { paymentCampaign } from '../test/money/kill.ts'
import { POINTS } from '../test/money/service.ts'
import { startServerPostgres } from '../test/support/server-postgres.ts'
import { openLab } from '../test/support/service.ts'

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '200' }, seed: { type: 'string', default: String(Date.now() % 1_000_000) } },
})
const seed = Number(values.seed)
console.log(`seed ${seed} (--seed=${seed} repeats the choices)`)
const given = process.env['DATABASE_URL']
const server = given ? null : await startServerPostgres()
if (!given && !server) throw new Error('Needs a PostgreSQL in /usr/lib/postgresql, or DATABASE_URL with an empty database')
const lab = openLab()
const began = performance.now()
try {
  const databaseUrl = given ?? (await server!.createDatabase('payments'))
  const { kills, topups, acknowledged, grants, holds, violations } = await paymentCampaign(lab, {
    databaseUrl,
    kills: Number(values.kills),
    seed,
    points: POINTS,
    onRound: (line) => console.log(`  ${line}`),
  })
  console.log(
    `${values.kills} kills in ${((performance.now() - began) / 1000).toFixed(0)} s: ${Object.entries(kills)
      .map(([point, count]) => `${point} ${count}`)
      .join(', ')}`,
  )
  console.log(
    `  top-ups asked for ${topups}, acknowledged ${acknowledged}, granted ${grants}; holds of live orders ${holds}; ` +
      `violations ${violations.length}`,
  )
  for (const line of violations.slice(0, 20)) console.log(`  ! ${line}`)
  console.log(violations.length === 0 ? 'holds' : 'DOES NOT HOLD')
  process.exitCode = violations.length === 0 ? 0 : 1
} finally {
  await lab.close()
  await server?.stop()
}
