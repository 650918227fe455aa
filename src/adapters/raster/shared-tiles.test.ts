import assert from 'node:assert/strict'
import { test } from 'node:test'
import sweep from '#domains/assets/sweep-tiles.task.ts'
import { StorageError, type Storage } from '#ports/storage.ts'
import { generationAt, generationOf, TILE_BUCKET } from '#ports/tile-cache.ts'
import { rasterItem } from '../../../test/support/layers.ts'
import { scene, tileAt } from '../../../test/support/scene.ts'
import { until } from '../../../test/support/service.ts'
import { world, type World } from '../../../test/support/world.ts'

const DAY_SECONDS = 86_400
const BOUNDS = { maxBytes: 1e9, maxAgeSeconds: 4 * DAY_SECONDS }
const INSIDE = tileAt(151.15, -33.1, 12)

const stored = async ({ storage }: Pick<World, 'storage'>) => (await storage.list(TILE_BUCKET)).objects
const storedTiles = (w: World, count: number) =>
  until(`${count} tiles in the store`, async () => ((await stored(w)).length === count ? await stored(w) : null))
const cacheOf = (w: World) => w.platform.services.raster.metrics().caches.stored_images!
const tileOf = (w: World, credential: string, item_id: string, more: object = {}) =>
  w.call(credential, 'items.tile.render', { item_id, ...INSIDE, ...more })

// Goal: a tile that one process has rendered is read from the store by the others, only by the organization that requested it and only
// after its caller was checked; the cache stays within its bounds.
test('tiles in the object store', async (t) => {
  const w = await world(t, { tileCache: BOUNDS })
  const founded = await w.organization()
  const { key } = await w.key(founded.owner.token, ['write'])
  const org = { ...founded, owner: { ...founded.owner, token: key } }
  const bytes = await scene()
  const id = await rasterItem(w, org, [{ bytes }])
  const process = (tileCache = BOUNDS) => ({ databaseUrl: w.databaseUrl, storage: w.storage, clock: w.clock, tileCache })

  await t.test('the next process reads what the first one rendered', async (inner) => {
    const first = await tileOf(w, key, id)
    const [object] = await storedTiles(w, 1)
    assert.ok(object!.key.startsWith(`${org.id}/`))
    const second = await world(inner, process())
    assert.deepEqual((await tileOf(second, key, id)).bytes, first.bytes)
    assert.deepEqual([cacheOf(second).hits, cacheOf(second).misses], [1, 0])
    for (const other of [{ format: 'png' }, { tile_size: 512 }, { profile: 'ndvi' }, { x: INSIDE.x + 1 }, { quality: 20 }])
      assert.equal((await tileOf(second, key, id, other)).status, 200)
    assert.deepEqual([cacheOf(second).hits, cacheOf(second).misses], [1, 5], 'whatever changes the pixels is part of the name')
    await storedTiles(w, 6)
  })

  await t.test('nobody else reads it, and a refusal does not depend on it', async (inner) => {
    const stranger = await w.organization()
    const copy = await rasterItem(w, stranger, [{ bytes }])
    const other = await world(inner, process())
    assert.equal((await tileOf(other, stranger.owner.token, copy)).status, 200)
    assert.equal(cacheOf(other).hits, 0)
    assert.equal((await tileOf(other, stranger.owner.token, id)).status, 404)
    assert.equal((await other.request('GET', `/api/v1/items/${id}/tiles/${INSIDE.z}/${INSIDE.x}/${INSIDE.y}.webp`)).status, 401)
    await w.ok(key, 'items.delete', { item_id: id })
    assert.equal((await tileOf(other, key, id)).status, 404, 'the tile of a deleted item is there, and nobody receives it')
    await storedTiles(w, 7)
  })

  await t.test('tiles in use stay, others go after their time', async (inner) => {
    const kept = await rasterItem(w, org, [{ bytes }])
    await tileOf(w, key, kept)
    await storedTiles(w, 8)
    w.clock.advance({ days: 2 })
    const later = await world(inner, process())
    await tileOf(later, key, kept)
    assert.equal(cacheOf(later).hits, 1, 'of the generation before')
    await storedTiles(w, 9)
    w.clock.advance({ days: 2 })
    await w.runTask(sweep)
    const left = await stored(w)
    assert.equal(left.length, 1, 'what was requested two days ago')
    assert.equal(generationOf(left[0]!.key), generationAt(BOUNDS, w.clock.now()) - 1)
    w.clock.advance({ days: 4 })
    await w.runTask(sweep)
    assert.deepEqual(await stored(w), [])
  })

  await t.test('beyond its size, the older generation goes first', async (inner) => {
    const wanted = await rasterItem(w, org, [{ bytes }])
    for (const x of [0, 1, 2]) await tileOf(w, key, wanted, { x: INSIDE.x + x })
    await storedTiles(w, 3)
    w.clock.advance({ days: 2 })
    for (const x of [3, 4]) await tileOf(w, key, wanted, { x: INSIDE.x - x })
    const all = await storedTiles(w, 5)
    const present = generationAt(BOUNDS, w.clock.now())
    const newer = all.filter((object) => generationOf(object.key) === present)
    const size = newer.reduce((sum, object) => sum + object.size, 0)
    const small = await world(inner, process({ ...BOUNDS, maxBytes: size }))
    await small.runTask(sweep)
    assert.deepEqual(await stored(w), newer)
    const off = await world(inner, { databaseUrl: w.databaseUrl, storage: w.storage, clock: w.clock })
    assert.equal(off.platform.services.raster.metrics().caches.stored_images, undefined)
    await off.runTask(sweep)
    assert.deepEqual(await stored(w), [], 'without the cache, nothing is left of it')
  })

  await t.test('visitors of a link share the tiles of the organization that shares', async (inner) => {
    const shown = await rasterItem(w, org, [{ bytes }])
    await tileOf(w, key, shown, { quality: undefined, format: 'png' })
    const { token } = await w.ok(key, 'share.link.create', {
      target_type: 'item',
      target_id: shown,
      password: 'coral and sand',
      expires_at: '2040-01-01T00:00:00Z',
    })
    await w.call(null, 'share.tile.render', { token, password: 'coral and sand', ...INSIDE, format: 'png' })
    await storedTiles(w, 2)
    const other = await world(inner, process())
    const answer = await other.call(null, 'share.tile.render', { token, password: 'coral and sand', ...INSIDE, format: 'png' })
    assert.deepEqual([answer.status, cacheOf(other).hits], [200, 1])
  })
})

/** A store that fails as told, for the cache only. */
function failing(storage: Storage, fault: { read: () => Promise<never>; put: () => Promise<never> }): Storage & { reads: number } {
  return Object.assign(Object.create(storage) as Storage, {
    reads: 0,
    read(this: { reads: number }, ...args: Parameters<Storage['read']>) {
      if (args[0].bucket !== TILE_BUCKET) return storage.read(...args)
      this.reads++
      return fault.read()
    },
    put: (...args: Parameters<Storage['put']>) => (args[0].bucket === TILE_BUCKET ? fault.put() : storage.put(...args)),
    ...Object.fromEntries(
      (
        [
          'createBucket',
          'deleteBucket',
          'stat',
          'list',
          'remove',
          'copy',
          'signPut',
          'signGet',
          'source',
          'sweep',
          'uriOf',
          'probe',
          'owns',
        ] as const
      ).map((name) => [name, (storage[name] as (...args: unknown[]) => unknown).bind(storage)]),
    ),
    close: async () => {},
  })
}

const never = () => new Promise<never>(() => {})
const refused = async (): Promise<never> => {
  throw new StorageError('unavailable', 'The store is away')
}

// Goal: whatever the store does, every tile is served; after a few failures the store is left alone, and used again later.
test('tiles while the object store fails', async (t) => {
  const w = await world(t)
  const { key } = await w.key((await w.organization()).owner.token)
  const org = await w.organization()
  const id = await rasterItem(w, org, [{ bytes: await scene() }])
  const { key: own } = await w.key(org.owner.token)
  assert.equal((await tileOf(w, key, id)).status, 404)

  for (const [name, fault] of Object.entries({ refuses: { read: refused, put: refused }, hangs: { read: never, put: never } }))
    await t.test(`it ${name}`, async (inner) => {
      const storage = failing(w.storage, fault)
      const process = await world(inner, { databaseUrl: w.databaseUrl, storage, clock: w.clock, tileCache: BOUNDS })
      for (let x = 0; x < 12; x++) assert.equal((await tileOf(process, own, id, { x: INSIDE.x + x })).status, 200)
      const { reads } = storage
      // Each tile is looked up twice, in two generations, and written once: three failures end that.
      assert.ok(reads >= 2 && reads <= 8, `${reads} reads of 12 tiles`)
      w.clock.advance({ seconds: 31 })
      assert.equal((await tileOf(process, own, id, { x: INSIDE.x - 1 })).status, 200)
      assert.ok(storage.reads > reads, 'it is tried again')
    })
})
