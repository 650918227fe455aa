import assert from 'node:assert/strict'
import { test } from 'node:test'
import { installationId } from '#model/platform/installation.ts'
import { claimStore, ownerOf } from '#services/store/owner.ts'
import { world, type World } from '../../../test/support/world.ts'
import sweep from './sweep.task.ts'

const KEYS = ['a', 'b', 'c'].map((name) => `lost/${name}.bin`)

async function bucketsOf(w: World): Promise<string[]> {
  const rows = await w.db.selectFrom('project').select('bucket_name').orderBy('bucket_name').execute()
  return rows.map(({ bucket_name }) => bucket_name!)
}

const loseFiles = async (w: World, bucket: string): Promise<void> => {
  for (const key of KEYS) await w.storage.put({ bucket, key }, Buffer.from(key), { contentType: 'application/octet-stream' })
}

// Goal: unreferenced files are removed only by the installation that the store belongs to. A restored copy that was pointed at the store
// of the original leaves it alone, until an operator says that the store is its own.
test('the sweep and the owner of the store', async (t) => {
  const w = await world(t)
  const { projectId } = await w.organization()
  const bucket = `svc-${projectId}`
  const own = await installationId(w.db)
  const rounds = async () => {
    await w.runTask(sweep)
    w.clock.advance({ hours: 13 })
    await w.runTask(sweep)
    return (await w.storage.list(bucket)).objects.length
  }
  assert.equal(await ownerOf(w.storage), null)
  await loseFiles(w, bucket)
  assert.equal(await rounds(), 0)
  assert.equal(await ownerOf(w.storage), own, 'the first sweep has claimed the store')

  await claimStore(w.storage, 'a6f1c2d4-0000-4000-8000-000000000000')
  await loseFiles(w, bucket)
  assert.equal(await rounds(), KEYS.length)
  assert.equal(w.logLines.filter((line) => line.includes('The object store belongs to another installation')).length, 2)

  await claimStore(w.storage, own)
  assert.equal(await rounds(), 0)
})

// Goal: one run looks at a limited number of pages and the next one continues there, so that every bucket has its turn whatever the size
// of the store; what is found unreferenced in two rounds is removed, and what has found an owner between them is not.
test('the sweep in slices', async (t) => {
  const w = await world(t)
  for (let n = 0; n < 4; n++) await w.organization()
  const buckets = await bucketsOf(w)
  assert.equal(buckets.length, 4)
  for (const bucket of buckets) await loseFiles(w, bucket)
  const left = async () => {
    const counts: number[] = []
    for (const bucket of buckets) counts.push((await w.storage.list(bucket)).objects.length)
    return counts
  }
  const noted = async () => (await w.db.selectFrom('orphan_object').select('bucket').distinct().execute()).length
  const run = async () => {
    await w.runTask(sweep, { max_pages: 2 })
    w.clock.advance({ hours: 7 })
  }

  await run()
  assert.equal(await noted(), 2, 'two buckets in the first run')
  await run()
  assert.equal(await noted(), 4)
  assert.deepEqual(await left(), [3, 3, 3, 3])
  await run() // Ends the first round.
  await run()
  assert.deepEqual(await left(), [0, 0, 3, 3], 'the second round begins with the first buckets')
  await run()
  assert.deepEqual(await left(), [0, 0, 0, 0])
})
