// Goal: concurrent identical requests with one key to two processes have one effect and one response; another body is rejected.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { campaign } from '../support/campaign.ts'
import { createDatabase } from '../support/database.ts'
import { openLab } from '../support/service.ts'
import { idempotencyRun } from './repeat.ts'

test('an idempotency key over two processes', async (t) => {
  const lab = openLab()
  t.after(() => lab.close())
  const database = await createDatabase()
  t.after(() => database.drop())
  const keys = campaign({ short: 5, long: 20 })
  const { seconds: _, ...result } = await idempotencyRun(lab, { keys, repeats: 20, databaseUrl: database.url })
  assert.deepEqual(result, {
    keys,
    requests: keys * 21,
    effects: keys,
    keysWithOneEffect: keys,
    keysWithOneAnswer: keys,
    firsts: keys,
    replays: keys * 19,
    conflicts: keys,
    failures: [],
  })
})
