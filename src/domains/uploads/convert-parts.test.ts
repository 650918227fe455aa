// Goal: a large upload is converted in parts by all workers, to the same bytes; a failure of the service never costs the file.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import part from '#domains/processing/part.task.ts'
import { striped } from '../../../test/support/tiff.ts'
import { world } from '../../../test/support/world.ts'
import convert from './convert.task.ts'
import resume from './resume.task.ts'

/** 3,300 × 900 pixels in three bands are 9 million samples, read and written. */
const LARGE = striped({ width: 900, height: 3_300, bandCount: 3, value: (x, y, band) => ((x * 31 + y * 17 + band * 7) % 250) + 1 })
const PART = 3_000_000

async function desk(t: TestContext, jobPartSamples: number) {
  const w = await world(t, { jobPartSamples })
  const org = await w.organization()
  const upload = async (file: Uint8Array, more: object = {}) => {
    const { status, body } = await w.upload(org.owner.token, org.projectId, { 'large.tif': file }, more)
    assert.equal(status, 200, JSON.stringify(body))
    return body as { id: string; item_ids: string[] }
  }
  const stateOf = async ({ id }: { id: string }) => (await w.ok(org.owner.token, 'uploads.progress', { upload_id: id })).files[0]
  const digestOf = async ({ item_ids }: { item_ids: string[] }) => {
    const row = await w.db
      .selectFrom('asset as a')
      .innerJoin('item as i', 'i.seq', 'a.item_seq')
      .select('a.sha256')
      .where('i.id', '=', item_ids[0]!)
      .executeTakeFirstOrThrow()
    return row.sha256!.toString('hex')
  }
  const partRows = () => w.db.selectFrom('job_part').select(['phase', 'number', 'state']).execute()
  const partFiles = async () => {
    const { bucket_name } = await w.db.selectFrom('project').select('bucket_name').where('id', '=', org.projectId).executeTakeFirstOrThrow()
    return (await w.storage.list(bucket_name!, { prefix: 'jobs/' })).objects.map(({ key }) => key)
  }
  /** Counts the files of parts that are stored, and fails where told. */
  const storing = (fails: (key: string) => boolean) => {
    const put = w.storage.put.bind(w.storage)
    const keys: string[] = []
    const mocked = t.mock.method(w.storage, 'put', async (...[at, content, options]: Parameters<typeof put>) => {
      keys.push(at.key)
      if (fails(at.key)) throw new Error('the store is away')
      return await put(at, content, options)
    })
    return { partKeys: () => keys.filter(isPart), restore: () => mocked.mock.restore() }
  }
  return { w, upload, stateOf, digestOf, partRows, partFiles, storing }
}

const isPart = (key: string): boolean => key.startsWith('jobs/')

test('large uploads in parts', async (t) => {
  const many = await desk(t, PART)
  const alone = await desk(t, 0)
  const { w } = many

  await t.test('the file is byte for byte that of one worker, and nothing is left of the parts', async () => {
    for (const more of [{}, { is_categorical: true }]) {
      const [divided, whole] = [await many.upload(LARGE, more), await alone.upload(LARGE, more)]
      const stored = many.storing(() => false)
      await w.drain(convert)
      stored.restore()
      await alone.w.drain(convert)
      assert.equal((await many.stateOf(divided)).state, 'ready')
      assert.ok(stored.partKeys().length > 4, `it was divided: ${stored.partKeys().join(', ')}`)
      assert.equal(await many.digestOf(divided), await alone.digestOf(whole))
      assert.deepEqual([await many.partRows(), await many.partFiles()], [[], []])
    }
    await w.drain(part)
  })

  await t.test('a file that one compressed strip holds is not divided: every part would decode all of it', async () => {
    const upload = await many.upload(striped({ width: 900, height: 3_300, bandCount: 3, rowsPerStrip: 3_300, isDeflated: true }))
    const stored = many.storing(() => false)
    await w.drain(convert)
    stored.restore()
    assert.deepEqual([(await many.stateOf(upload)).state, stored.partKeys()], ['ready', []])
  })

  await t.test('while the store is away the file waits, and another run continues the parts that are done', async () => {
    const upload = await many.upload(LARGE)
    let count = 0
    const away = many.storing((key) => isPart(key) && ++count > 1)
    await w.drain(convert).catch(() => {})
    away.restore()
    assert.equal((await many.stateOf(upload)).state, 'converting', 'no file is lost')
    const done = (await many.partRows()).filter(({ state }) => state === 'done')
    assert.equal(done.length, 1)
    w.clock.advance({ minutes: 3 })
    await w.runTask(resume)
    const back = many.storing(() => false)
    await w.drain(convert)
    back.restore()
    assert.equal((await many.stateOf(upload)).state, 'ready')
    assert.ok(!back.partKeys().some((key) => key.includes(`/0-${done[0]!.phase}-${done[0]!.number}-`)), 'no part is computed twice')
    assert.deepEqual([await many.partRows(), await many.partFiles()], [[], []])
  })

  await t.test('a damaged file fails with its reason, and its parts are removed', async () => {
    const damaged = Buffer.from(LARGE)
    damaged.writeUInt16LE(5, damaged.indexOf(Buffer.from([0x03, 0x01, 0x03, 0x00])) + 8) // Says LZW, is not.
    const upload = await many.upload(damaged)
    await w.drain(convert)
    const { state, error } = await many.stateOf(upload)
    assert.deepEqual([state, /damaged/.test(error)], ['failed', true], error)
    assert.deepEqual([await many.partRows(), await many.partFiles()], [[], []])
  })
})
