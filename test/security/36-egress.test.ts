import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storeFile } from '../support/stored-file.ts'
import { world, type Org } from '../support/world.ts'

const GIB = 1024 ** 3
const BYTES = Buffer.from('forty-two bytes of pixels, more or less !!')

// Goal: what leaves is what counts: each response of one signed address anew, a range by its own bytes, and limits hold
// for addresses signed before.
test('row 36: metered once, downloaded many times', async (t) => {
  const w = await world(t, { countsEgress: true })
  const signed = async (org: Org) => {
    const { token } = await w.signIn(org.owner, org.id) // Sessions end while the clock moves on.
    const { id: item_id } = await w.ok(token, 'items.create', { project_id: org.projectId, type: 'user_raster', name: 'n' })
    const asset_id = await storeFile(w, item_id, { bytes: BYTES })
    const { url } = await w.ok(token, 'items.asset.download', { item_id, asset_id })
    return { url, again: () => w.call(token, 'items.asset.download', { item_id, asset_id }) }
  }
  const counted = async (org: Org) => {
    await w.flushEgress()
    const rows = await w.db.selectFrom('egress_minute').select(['bytes', 'starts']).where('org_id', '=', org.id).execute()
    return [rows.reduce((sum, row) => sum + row.bytes, 0), rows.reduce((sum, row) => sum + row.starts, 0)]
  }
  /** The store counts when a response has ended, which its client may know a moment earlier. */
  const countedAtLeast = async (org: Org, bytes: number) => {
    for (let tries = 0; tries < 1_000; tries++) {
      const now = await counted(org)
      if (now[0]! >= bytes) return now
      await new Promise(setImmediate)
    }
    return await counted(org)
  }
  const fetched = async (url: string, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await fetch(url, { headers, method })
    return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
  }

  await t.test('ten downloads of one URL count ten times, and as one started download', async () => {
    const org = await w.organization()
    const { url } = await signed(org)
    assert.deepEqual(await counted(org), [0, 1], 'nothing has left yet')
    for (let i = 0; i < 10; i++) assert.deepEqual((await fetched(url)).bytes, BYTES)
    assert.deepEqual(await countedAtLeast(org, 10 * BYTES.length), [10 * BYTES.length, 1])
    const usage = await w.db
      .selectFrom('usage_day')
      .select('amount')
      .where('org_id', '=', org.id)
      .where('meter', '=', 'egress_bytes')
      .execute()
    assert.deepEqual(usage, [{ amount: 10 * BYTES.length }])
  })

  await t.test('a range counts its own bytes; HEAD and 304 count nothing', async () => {
    const org = await w.organization()
    const { url } = await signed(org)
    const part = await fetched(url, { range: 'bytes=10-19' })
    assert.deepEqual([part.status, part.bytes.length], [206, 10])
    await fetched(url, {}, 'HEAD')
    assert.equal((await fetched(url, { 'if-none-match': '*' })).status, 304)
    assert.deepEqual(await countedAtLeast(org, 10), [10, 1])
  })

  await t.test('an earlier signed URL does not work while downloads are paused or the daily quota is used up', async () => {
    const org = await w.organization()
    const { url, again } = await signed(org)
    await w.db
      .updateTable('egress_minute')
      .set({ bytes: 6 * GIB })
      .where('org_id', '=', org.id)
      .execute()
    assert.equal((await fetched(url)).status, 200)
    await countedAtLeast(org, 6 * GIB + 1)
    const paused = await fetched(url)
    assert.equal(paused.status, 429)
    assert.match(paused.bytes.toString(), /egress-limited/)
    assert.equal((await again()).status, 429, 'and none is signed')
    w.clock.advance({ minutes: 16 })
    const later = await signed(org)
    assert.equal((await fetched(later.url)).status, 200)
    await w.db
      .updateTable('egress_minute')
      .set({ bytes: 20 * GIB })
      .where('org_id', '=', org.id)
      .where('bytes', '>', GIB)
      .execute()
    w.clock.advance({ seconds: 2 })
    assert.equal((await fetched(later.url)).status, 429)
  })

  await t.test('a URL cannot be modified to count for nobody or for another organization', async () => {
    const org = await w.organization()
    const { url } = await signed(org)
    assert.match(url, new RegExp(`for=${org.id}`))
    const other = await w.organization()
    for (const bent of [url.replace(`&for=${org.id}`, ''), url.replace(org.id, other.id)]) assert.equal((await fetched(bent)).status, 403)
  })
})
