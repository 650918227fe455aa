// Goal: kill -9 of the service while others write, on both kinds of database, loses no acknowledged write and tears nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { campaign, testSeed } from '../support/campaign.ts'
import { createEmptyDatabase } from '../support/database.ts'
import { openLab } from '../support/service.ts'
import { campaign as killingCampaign, type CampaignOptions } from './kill.ts'

const seed = testSeed

type Options = Pick<CampaignOptions, 'kills' | 'first'>

const CASES: readonly { name: string; options: Options; server: boolean }[] = [
  {
    name: 'embedded PostgreSQL',
    options: campaign<Options>({
      short: { kills: 1, first: ['postmaster', 'both'] },
      long: { kills: 3, first: ['service', 'postmaster', 'both', 'disconnect', 'starting'] },
    }),
    server: false,
  },
  {
    name: 'DATABASE_URL',
    options: campaign<Options>({
      short: { kills: 1, first: ['disconnect', 'service'] },
      long: { kills: 3, first: ['service', 'disconnect', 'starting', 'service'] },
    }),
    server: true,
  },
]

for (const { name, options, server } of CASES) {
  test(`kill -9 during writes, ${name}`, async (t) => {
    t.diagnostic(`TEST_SEED=${seed}`)
    const lab = openLab()
    t.after(() => lab.close())
    const database = server ? await createEmptyDatabase() : null
    if (database) t.after(() => database.drop())
    const { acknowledged, lost, violations, idempotencyKeys, effects } = await killingCampaign(lab, {
      seed,
      databaseUrl: database?.url ?? null,
      demo: campaign({ short: false, long: true }),
      ...options,
    })
    assert.deepEqual({ lost, violations }, { lost: [], violations: [] })
    assert.ok(acknowledged > 0, 'something was written')
    assert.equal(effects, idempotencyKeys, 'one effect for each idempotency key')
  })
}
