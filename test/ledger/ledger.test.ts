import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatabase } from '#db/open.ts'
import { campaign, testSeed } from '../support/campaign.ts'
import { createDatabase } from '../support/database.ts'
import { simulate } from './commands.ts'

/** `npm run bench -- ledger --simulate 100000` runs many more. */
const COMMANDS = Number(process.env['LEDGER_COMMANDS'] ?? campaign({ short: 200, long: 800 }))

// Goal: after any sequence of concurrent changes, the ledger agrees with a simple model of it.
test('the ledger agrees with a simple model', async (t) => {
  const seed = testSeed
  t.diagnostic(`TEST_SEED=${seed}`)
  const own = await createDatabase()
  const database = openDatabase(own.url, { maxConnections: 12 })
  t.after(async () => {
    await database.close()
    await own.drop()
  })
  const { commands } = await simulate({ db: database.db, commands: COMMANDS, lanes: 4, seed })
  assert.ok(commands >= COMMANDS)
})
