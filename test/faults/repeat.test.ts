// Goal: identical requests with one key, at once over two processes, have one effect and one answer; another body is refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDatabase } from '../support/database.ts'
import { openLab } from '../support/service.ts'
import { idempotencyRun } from './repeat.ts'

test('an idempotency key over two processes', async (t) => {
  const lab = openLab()
  t.after(() => lab.close())
  const database = await createDatabase()
  t.after(() => database.drop())
  const { seconds: _, ...result } = await idempotencyRun(lab, { keys: 20, repeats: 20, databaseUrl: database.url })
  assert.deepEqual(result, {
    keys: 20,
    requests: 420,
    effects: 20,
    keysWithOneEffect: 20,
    keysWithOneAnswer: 20,
    firsts: 20,
    replays: 380,
    conflicts: 20,
    failures: [],
  })
})
