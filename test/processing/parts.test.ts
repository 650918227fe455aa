// Goal: one mosaic on several worker processes, some of them killed, the one that runs the job too, has the bytes and the price of one
// worker's, and each does its share.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import clear from '#domains/processing/clear.task.ts'
import { campaign } from '../support/campaign.ts'
import { createEmptyDatabase } from '../support/database.ts'
import { moneyViolations } from '../money/invariants.ts'
import { openMosaicLab } from './many-workers.ts'

const SIZE = campaign({
  short: { scenes: 16, side: 600, workers: 3, kills: 1 },
  ci: { scenes: 16, side: 600, workers: 3, kills: 1 },
  long: { scenes: 200, side: 512, workers: 4, kills: 2 },
})

test('a mosaic on many workers', { timeout: 3_600_000 }, async (t) => {
  const database = await createEmptyDatabase()
  const { w, run } = await openMosaicLab(t, { ...SIZE, databaseUrl: database.url })
  t.after(() => database.drop()) // After the world has closed.
  const alone = await run({ workers: 1, partMegapixels: 0 })
  const killed = await run({ workers: SIZE.workers, partMegapixels: 1, kills: SIZE.kills })
  const told = (ms: readonly number[]) => `${ms.map(Math.round).join(', ')} ms of CPU`
  t.diagnostic(`${killed.parts} parts, ${killed.attempts} attempts; one worker ${told(alone.cpuMs)}, many ${told(killed.cpuMs)}`)
  assert.deepEqual(Object.keys(alone.files).toSorted(), ['data', 'provenance'])
  assert.deepEqual(killed.files, alone.files, 'the files are the same, byte for byte')
  assert.deepEqual(killed.scenes, alone.scenes)
  assert.equal(killed.capturedCredits, alone.capturedCredits)
  assert.ok(killed.parts > SIZE.workers)
  assert.deepEqual([alone.attempts, killed.attempts], [1, 2], 'the worker that ran the job was killed')
  assert.notEqual(killed.runners[0], killed.runners[1], 'and another one continued')
  await w.drain(clear)
  assert.deepEqual(await w.db.selectFrom('job_part').selectAll().execute(), [])
  assert.deepEqual(await moneyViolations(w.db), [])
  const objects = await w.db.selectFrom('project').select('bucket_name').where('bucket_name', 'is not', null).execute()
  for (const { bucket_name } of objects) assert.deepEqual((await w.storage.list(bucket_name!, { prefix: 'jobs/' })).objects, [])
})
