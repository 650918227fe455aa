// Goal: kill -9 at any named point of a payment loses no payment, grants none twice, and leaves no hold behind.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { campaign, testSeed } from '../support/campaign.ts'
import { createEmptyDatabase } from '../support/database.ts'
import { openLab } from '../support/service.ts'
import { paymentCampaign } from './kill.ts'

/** The points where most can go wrong; `npm run bench -- payments` does 200 kills at all of them. */
const POINTS = ['after-charge', 'before-commit', 'after-settling'] as const
const ROUNDS = campaign({ short: 1, long: 2 })

test('kill -9 around payments', async (t) => {
  const seed = testSeed
  t.diagnostic(`TEST_SEED=${seed}`)
  const lab = openLab()
  t.after(() => lab.close())
  const database = await createEmptyDatabase()
  t.after(() => database.drop())
  const { violations, kills, acknowledged } = await paymentCampaign(lab, {
    databaseUrl: database.url,
    kills: POINTS.length * ROUNDS,
    points: POINTS,
    seed,
  })
  assert.deepEqual(violations, [])
  assert.deepEqual(
    POINTS.map((point) => kills[point]),
    POINTS.map(() => ROUNDS),
  )
  assert.ok(acknowledged > 0)
})
