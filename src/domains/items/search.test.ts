import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Position } from '#core/geometry.ts'
import { normalised } from '#core/validity.ts'
import { newId } from '#core/ids.ts'
import { Problem } from '#core/problem.ts'
import type { ItemType } from '#core/vocabulary.ts'
import { placeOf } from '#model/imagery/item-place.ts'
import * as itemWrite from '#model/imagery/item-write.ts'
import { search } from '#model/imagery/item-search.ts'
import { createSearchMemory } from '#model/imagery/search-memory.ts'
import { sql } from 'kysely'
import { campaign } from '../../../test/support/campaign.ts'
import { world, type World } from '../../../test/support/world.ts'

/** Quarters of a degree: all comparisons of the reference are exact, and nothing is so near an edge that rounding matters. */
const STEP = 0.25
type Ring = Position[]
type Shape = { rings: Ring[] }[]
interface Scene {
  id: string
  /** The geometry that is sent, and the area it covers. */
  geometry: unknown
  bbox: number[] | null
  shapes: Shape
  datetime: string | null
  start: string | null
  end: string | null
  cloud: number | null
  type: ItemType
  platform: string | null
  inCollection: boolean
}

const close = (ring: Ring): Ring => [...ring, ring[0]!]
const box = (w: number, s: number, e: number, n: number): Ring => [
  [w, s],
  [e, s],
  [e, n],
  [w, n],
]
const lon = fc.integer({ min: -180 / STEP, max: 180 / STEP }).map((v) => v * STEP)
const lat = fc.integer({ min: -90 / STEP, max: 90 / STEP }).map((v) => v * STEP)
const extent = fc
  .oneof(
    { weight: 5, arbitrary: fc.integer({ min: 4, max: 12 }) },
    { weight: 2, arbitrary: fc.integer({ min: 12, max: 120 }) },
    { weight: 1, arbitrary: fc.integer({ min: 120, max: 700 }) },
  )
  .map((v) => v * STEP)

/** A rectangle, a triangle, an L, or a frame with one or two holes, within the Earth. */
const polygon: fc.Arbitrary<Ring[]> = fc
  .tuple(lon, lat, extent, extent, fc.integer({ min: 0, max: 4 }))
  .map(([x, y, width, height, kind]) => {
    const [w, s, e, n] = [
      Math.min(x, 180 - 1),
      Math.min(y, 90 - 1),
      Math.min(180, Math.min(x, 179) + width),
      Math.min(90, Math.min(y, 89) + height),
    ]
    const [third, up] = [Math.floor((e - w) / STEP / 3) * STEP, Math.floor((n - s) / STEP / 3) * STEP]
    if (kind === 0 || third < STEP || up < STEP) return [box(w, s, e, n)]
    if (kind === 1)
      return [
        [
          [w, s],
          [e, s],
          [w, n],
        ],
      ]
    if (kind === 2)
      return [
        [
          [w, s],
          [e, s],
          [e, s + up],
          [w + third, s + up],
          [w + third, n],
          [w, n],
        ],
      ]
    const hole = box(w + third, s + up, e - third, n - up)
    if (kind === 3 || e - w < 8 * STEP) return [box(w, s, e, n), hole]
    return [box(w, s, e, n), box(w + STEP, s + up, w + 2 * STEP, n - up), box(e - 2 * STEP, s + up, e - STEP, n - up)]
  })

const geojson = (rings: Ring[]) => rings.map(close)
const shape = fc.oneof(
  {
    weight: 8,
    arbitrary: polygon.map((rings) => ({ geometry: { type: 'Polygon', coordinates: geojson(rings) }, bbox: null, shapes: [{ rings }] })),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(polygon, polygon)
      .filter((pair) => 'polygons' in normalised(pair.map(geojson)))
      .map((pair) => ({
        geometry: { type: 'MultiPolygon', coordinates: pair.map(geojson) },
        bbox: null,
        shapes: pair.map((rings) => ({ rings })),
      })),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(lon, lat)
      .map(([x, y]) => ({ geometry: { type: 'Point', coordinates: [x, y] }, bbox: null, shapes: [{ rings: [[[x, y]] as Ring] }] })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(lon, lat, lon, lat).map(([a, b, c, d]) => ({
      geometry: {
        type: 'LineString',
        coordinates: [
          [a, b],
          [c, d],
        ],
      },
      bbox: null,
      shapes: [
        {
          rings: [
            [
              [a, b],
              [c, d],
            ] as Ring,
          ],
        },
      ],
    })),
  },
  // Across the antimeridian and not split; the bbox shows it.
  {
    weight: 2,
    arbitrary: fc.tuple(fc.integer({ min: 1, max: 80 }), fc.integer({ min: 1, max: 80 }), lat).map(([a, b, y]) => {
      const [w, e, s, n] = [180 - a * STEP, -180 + b * STEP, Math.min(y, 88), Math.min(y, 88) + 2]
      return {
        geometry: {
          type: 'Polygon',
          coordinates: [
            close([
              [w, s],
              [e, s],
              [e, n],
              [w, n],
            ]),
          ],
        },
        bbox: [w, s, e, n],
        shapes: [{ rings: [box(w, s, 180, n)] }, { rings: [box(-180, s, e, n)] }],
      }
    }),
  },
  { weight: 1, arbitrary: fc.constant({ geometry: null, bbox: null, shapes: [] as Shape }) },
)

const day = fc.integer({ min: 0, max: 40 }).map((d) => new Date(Date.UTC(2026, 0, 1 + d)).toISOString())
const when = fc.oneof(
  {
    weight: 6,
    arbitrary: day.map((datetime) => ({ datetime: datetime as string | null, start: null as string | null, end: null as string | null })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(day, day).map((pair) => {
      const [start, end] = pair.toSorted() as [string, string]
      return { datetime: null, start, end }
    }),
  },
)
const scene: fc.Arbitrary<Scene> = fc
  .tuple(
    shape,
    when,
    fc.option(fc.integer({ min: 0, max: 10 }).map((v) => v * 10)),
    fc.constantFrom('clip' as const, 'user_raster' as const),
    fc.option(fc.constantFrom('s1', 's2')),
    fc.boolean(),
  )
  .map(
    ([where, time, cloud, type, platform, inCollection]) =>
      ({ id: newId(), ...where, ...time, cloud, type, platform, inCollection }) as Scene,
  )

/** Compares the box with the edges of a shape; touching counts as intersecting. */
function touches(shapes: Shape, [w, s, e, n]: readonly number[]): boolean {
  const boxes =
    w! <= e!
      ? [[w!, s!, e!, n!]]
      : [
          [w!, s!, 180, n!],
          [-180, s!, e!, n!],
        ]
  return shapes.some(({ rings }) =>
    boxes.some(
      (each) =>
        rings.some((ring) => ring.some((from, i) => edgeTouches(from, ring[(i + 1) % ring.length]!, each))) ||
        isInside(rings, [each[0]!, each[1]!]),
    ),
  )
}

function edgeTouches([ax, ay]: Position, [bx, by]: Position, [w, s, e, n]: number[]): boolean {
  if (Math.max(ax, bx) < w! || Math.min(ax, bx) > e! || Math.max(ay, by) < s! || Math.min(ay, by) > n!) return false
  const sides = [
    [w!, s!],
    [e!, s!],
    [e!, n!],
    [w!, n!],
  ].map(([x, y]) => Math.sign((bx - ax) * (y! - ay) - (by - ay) * (x! - ax)))
  return !(sides.every((side) => side > 0) || sides.every((side) => side < 0))
}

function isInside(rings: Ring[], [x, y]: Position): boolean {
  let inside = false
  for (const ring of rings)
    for (const [i, [ax, ay]] of ring.entries()) {
      const [bx, by] = ring[(i + 1) % ring.length]!
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside
    }
  return inside
}

const bboxArb = fc.oneof(
  fc.tuple(lon, lat, extent, extent).map(([x, y, width, height]) => [x, y, Math.min(180, x + width), Math.min(90, y + height)]),
  fc
    .tuple(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 200 }), lat, extent)
    .map(([a, b, y, height]) => [180 - a * STEP, y, -180 + b * STEP, Math.min(90, y + height)]),
  fc.constantFrom([-180, -90, 180, 90], [-180, 60, 180, 90], [-180, -90, 180, -60], [-179.75, -89.75, 179.75, 89.75]),
)
const SORTS = [
  null,
  [{ field: 'datetime', direction: 'desc' }],
  [{ field: 'properties.datetime', direction: 'asc' }],
  [{ field: 'cloud_cover', direction: 'asc' }],
  [
    { field: 'eo:cloud_cover', direction: 'desc' },
    { field: 'datetime', direction: 'asc' },
  ],
  [{ field: 'id' }],
] as const
const searchArb = fc.record({
  bbox: fc.option(bboxArb, { freq: 5 }),
  datetime: fc.option(
    fc.tuple(day, day, fc.integer({ min: 0, max: 3 })).map(([a, b, kind]) => {
      const [from, to] = [a, b].toSorted() as [string, string]
      return kind === 0 ? `../${to}` : kind === 1 ? `${from}/..` : kind === 2 ? from : `${from}/${to}`
    }),
    { freq: 2 },
  ),
  cloud: fc.option(
    fc.integer({ min: 0, max: 10 }).map((v) => v * 10),
    { freq: 2 },
  ),
  platform: fc.option(fc.constantFrom('s1', 's2'), { freq: 2 }),
  type: fc.option(fc.constantFrom('clip', 'user_raster'), { freq: 2 }),
  collected: fc.boolean(),
  sort: fc.constantFrom(...SORTS),
})
type SearchCase = typeof searchArb extends fc.Arbitrary<infer V> ? V : never

function reference(scenes: readonly Scene[], search: SearchCase): string[] {
  const [from, to] =
    search.datetime === null
      ? [null, null]
      : search.datetime.includes('/')
        ? search.datetime.split('/').map((end) => (end === '..' ? null : end))
        : [search.datetime, search.datetime]
  const matching = scenes
    .map((scene, seq) => ({ ...scene, seq }))
    .filter((scene) => {
      if (search.bbox && !touches(scene.shapes, search.bbox)) return false
      const [start, end] = scene.datetime ? [scene.datetime, scene.datetime] : [scene.start!, scene.end!]
      if ((from && end < from) || (to && start > to)) return false
      if (search.cloud !== null && !(scene.cloud !== null && scene.cloud <= search.cloud)) return false
      if (search.platform !== null && scene.platform !== search.platform) return false
      return (search.type === null || scene.type === search.type) && (!search.collected || scene.inCollection)
    })
  const sort = search.sort ?? [{ field: 'datetime', direction: 'desc' }]
  const value = (scene: Scene, field: string) =>
    field.endsWith('datetime') ? scene.datetime : field.endsWith('cloud_cover') ? scene.cloud : scene.id
  const compare = (a: unknown, b: unknown) => (a === b ? 0 : a === null ? -1 : b === null ? 1 : a! < b! ? -1 : 1)
  return matching
    .toSorted((a, b) => {
      for (const { field, ...rest } of sort) {
        const order = compare(value(a, field), value(b, field)) * ('direction' in rest && rest.direction === 'desc' ? -1 : 1)
        if (order !== 0) return order
      }
      const first = sort[0] as { direction?: string }
      return (first.direction ?? 'asc') === 'asc' ? b.seq - a.seq : a.seq - b.seq
    })
    .map(({ id }) => id)
}

async function plant(w: World, organizationId: string, projectId: string, collectionId: string, scenes: readonly Scene[]): Promise<void> {
  const rows = scenes.map((scene): itemWrite.NewItem => ({
    ...placeOf(scene.geometry, scene.bbox),
    id: scene.id,
    stacId: scene.id,
    collectionId: scene.inCollection ? collectionId : null,
    type: scene.type,
    name: 'n',
    description: null,
    datetime: scene.datetime ? new Date(scene.datetime) : null,
    startDatetime: scene.start ? new Date(scene.start) : null,
    endDatetime: scene.end ? new Date(scene.end) : null,
    cloudCover: scene.cloud,
    gsd: null,
    properties: scene.platform ? { platform: scene.platform } : {},
    stacExtensions: [],
    orderId: null,
    uploadId: null,
    jobId: null,
    assets: [],
  }))
  await w.db.transaction().execute((tx) => itemWrite.insert(tx, { organizationId, projectId, createdBy: null, now: w.clock.now() }, rows))
}

const idsOf = (body: { features: { properties: Record<string, string> }[] }) =>
  body.features.map((feature) => feature.properties['svc:item_id']!)

// Goal: a search returns what a plain filter over everything would, in the same order, on every query path.
test('items.search and items.search_org equal a naive filter', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const collection = await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'c' })
  const scenes = fc.sample(scene, { numRuns: 500, seed: 20_260_301 })
  await plant(w, org.id, org.projectId, collection.id, scenes)
  const inputOf = (search: SearchCase) => ({
    bbox: search.bbox,
    datetime: search.datetime,
    type: search.type,
    sortby: search.sort,
    ...(search.collected ? { collections: [collection.id] } : {}),
    query: {
      ...(search.cloud === null ? {} : { 'eo:cloud_cover': { lte: search.cloud } }),
      ...(search.platform === null ? {} : { platform: { eq: search.platform } }),
    },
  })

  await t.test('one page of everything', async () => {
    let matches = 0
    await fc.assert(
      fc.asyncProperty(searchArb, fc.boolean(), async (search, inProject) => {
        const expected = reference(scenes, search)
        const body = await w.ok(org.owner.token, inProject ? 'items.search' : 'items.search_org', {
          ...inputOf(search),
          limit: 1000,
          ...(inProject ? { project_id: org.projectId } : {}),
        })
        assert.deepEqual(idsOf(body), expected)
        assert.deepEqual(
          [body.numberMatched, body.numberReturned, body.numberMatchedEstimated],
          [expected.length, expected.length, undefined],
        )
        matches += expected.length
      }),
      { numRuns: campaign({ short: 25, long: 100 }), seed: 7 },
    )
    assert.ok(matches > 1000, `the searches matched something: ${matches}`)
  })

  await t.test('a hole does not match, its edge does', async () => {
    const holes = scenes
      .flatMap(({ shapes }) => shapes.flatMap(({ rings }) => rings.slice(1)))
      .filter(([a, , c]) => c![0] - a![0] > STEP && c![1] - a![1] > STEP)
    assert.ok(holes.length > 20)
    for (const [a, , c] of holes.slice(0, 40)) {
      const inside = [a![0] + STEP / 2, a![1] + STEP / 2, c![0] - STEP / 2, c![1] - STEP / 2]
      for (const bbox of [inside, [a![0], inside[1]!, a![0] + STEP / 2, inside[3]!]]) {
        const search: SearchCase = { bbox, datetime: null, cloud: null, platform: null, type: null, collected: false, sort: null }
        assert.deepEqual(idsOf(await w.ok(org.owner.token, 'items.search_org', { bbox, limit: 1000 })), reference(scenes, search))
      }
    }
  })

  await t.test('page by page: nothing lost, nothing twice', async () => {
    await fc.assert(
      fc.asyncProperty(searchArb, fc.integer({ min: 20, max: 90 }), async (search, limit) => {
        const expected = reference(scenes, search)
        const seen: string[] = []
        for (let offset = 0; offset === 0 || offset < expected.length; offset += limit) {
          const body = await w.ok(org.owner.token, 'items.search_org', { ...inputOf(search), limit, offset })
          assert.equal(body.numberMatched, expected.length)
          seen.push(...idsOf(body))
        }
        assert.deepEqual(seen, expected)
      }),
      { numRuns: campaign({ short: 8, long: 25 }), seed: 8 },
    )
  })

  await t.test('after items changed position or time or were deleted', async () => {
    const changed = scenes.slice(0, 20)
    for (const [i, each] of changed.entries()) {
      if (i % 3 === 0) await w.ok(org.owner.token, 'items.delete', { item_id: each.id })
      else
        await w.ok(org.owner.token, 'items.update', {
          item_id: each.id,
          ...(i % 3 === 1 ? { geometry: { type: 'Point', coordinates: [1, 1] } } : { datetime: '2026-01-15T00:00:00Z' }),
        })
    }
    const now = scenes.map((scene, i) =>
      i >= 20
        ? scene
        : i % 3 === 1
          ? { ...scene, shapes: [{ rings: [[[1, 1]] as Ring] }] }
          : { ...scene, datetime: '2026-01-15T00:00:00.000Z' },
    )
    const live = new Set(scenes.filter((_, i) => i >= 20 || i % 3 !== 0).map(({ id }) => id))
    await fc.assert(
      fc.asyncProperty(searchArb, async (search) => {
        const expected = reference(now, search).filter((id) => live.has(id))
        assert.deepEqual(idsOf(await w.ok(org.owner.token, 'items.search_org', { ...inputOf(search), limit: 1000 })), expected)
      }),
      { numRuns: campaign({ short: 8, long: 30 }), seed: 9 },
    )
  })
})

// Goal: search fields are validated strictly, responses are STAC, and nobody finds what they cannot read.
test('items.search: fields and access', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { owner, projectId: project_id } = org
  const member = await w.member(org, 'viewer')
  const collection = await w.ok(owner.token, 'collections.create', { project_id, name: 'c' })
  const create = async (input: object) => await w.ok(owner.token, 'items.create', { project_id, type: 'clip', name: 'n', ...input })
  const first = await create({
    name: 'First',
    stac_id: 'S-1',
    collection_id: collection.id,
    datetime: '2026-01-02T12:00:00Z',
    geometry: { type: 'Point', coordinates: [1, 2] },
    cloud_cover: 20,
    properties: { platform: 's2', 'view:off_nadir': 3.5, nested: { deep: 'x' }, ok: true, 'svc:source': 'FORGED' },
    assets: [{ key: 'data', href: 'https://data.example/a.tif', media_type: 'image/tiff', roles: ['data'] }],
  })
  const second = await create({ name: 'Second', datetime: '2026-01-03T12:00:00Z', properties: { platform: 's1', 'view:off_nadir': '3.5' } })
  const search = (input: object, token = owner.token) => w.call(token, 'items.search', { project_id, ...input })
  const names = async (input: object) => {
    const { status, body } = await search(input)
    assert.equal(status, 200, JSON.stringify(body))
    return body.features.map((feature: { properties: { title: string } }) => feature.properties.title)
  }

  await t.test('features are STAC; assets come with format stac', async () => {
    const { body } = await search({ query: { name: { eq: 'First' } } })
    const { stac_extensions, links, ...feature } = body.features[0]
    assert.deepEqual(feature, {
      type: 'Feature',
      stac_version: '1.0.0',
      id: 'S-1',
      collection: collection.id,
      geometry: first.geometry,
      bbox: [1, 2, 1, 2],
      properties: {
        title: 'First',
        created: first.created_at,
        updated: first.updated_at,
        platform: 's2',
        'view:off_nadir': 3.5,
        nested: { deep: 'x' },
        ok: true,
        datetime: '2026-01-02T12:00:00.000Z',
        'eo:cloud_cover': 20,
        'svc:item_id': first.id,
        'svc:project_id': project_id,
        'svc:order_id': null,
        'svc:upload_id': null,
        'svc:job_id': null,
        'svc:item_type': 'clip',
        'svc:name': 'First',
        'svc:lifecycle_state': 'active',
        'svc:source': 'TASKING',
      },
      assets: {},
    })
    assert.deepEqual(
      stac_extensions.map((uri: string) => uri.split('/').at(-3)),
      ['view', 'eo', 'svc'],
      'extensions of its fields, and our own',
    )
    assert.deepEqual(
      links.map((link: { rel: string }) => link.rel),
      ['self', 'collection'],
    )
    const full = (await search({ query: { name: { eq: 'First' } }, format: 'stac', base_url: 'https://maps.example/' })).body.features[0]
    assert.deepEqual(full.assets, { data: { href: 'https://data.example/a.tif', type: 'image/tiff', roles: ['data'] } })
    assert.equal(full.links[1].href, `https://maps.example/stac/collections/${collection.id}`)
    const plain = (await search({ query: { name: { eq: 'Second' } } })).body.features[0]
    assert.ok(!('bbox' in plain) && !('collection' in plain))
  })

  await t.test('operators', async () => {
    const cases: [object, string[]][] = [
      [{ platform: { eq: 's2' } }, ['First']],
      [{ platform: { neq: 's2' } }, ['Second']],
      [{ platform: { in: ['s1', 's2'] } }, ['Second', 'First']],
      [{ platform: { startsWith: 's' } }, ['Second', 'First']],
      [{ 'properties.platform': { gt: 's1' } }, ['First']],
      [{ 'view:off_nadir': { lt: 4 } }, ['First']],
      [{ 'view:off_nadir': { lte: '4' } }, ['Second', 'First']],
      [{ 'view:off_nadir': { eq: '3.5' } }, ['Second', 'First']],
      [{ 'view:off_nadir': { neq: '3.5' } }, []],
      [{ 'view:off_nadir': { in: ['3.5', 'x'] } }, ['Second', 'First']],
      [{ 'view:off_nadir': { gt: '4' } }, []],
      [{ cloud_cover: { lt: '20.5' } }, ['First']],
      [{ 'eo:cloud_cover': { in: ['20', 30] } }, ['First']],
      [{ 'eo:cloud_cover': { eq: '2e1' } }, ['First']],
      [{ 'view:off_nadir': { gte: 3, lt: 3.5 } }, []],
      [{ 'nested.deep': { eq: 'x' } }, ['First']],
      [{ ok: { eq: true } }, ['First']],
      [{ cloud_cover: { lte: 20 } }, ['First']],
      [{ 'eo:cloud_cover': { in: [20, 30] } }, ['First']],
      [{ datetime: { gte: '2026-01-03T00:00:00Z' } }, ['Second']],
      [{ name: { startsWith: 'Sec' } }, ['Second']],
      [{ absent: { neq: 'x' } }, []],
      [{ toString: { eq: 'x' } }, []],
      [{ hasOwnProperty: { neq: 'x' } }, []],
    ]
    for (const [query, expected] of cases) assert.deepEqual(await names({ query }), expected, JSON.stringify(query))
    assert.deepEqual(await names({ sortby: [{ field: 'name' }] }), ['First', 'Second'])
    assert.deepEqual(await names({ sortby: [{ field: 'cloud_cover', direction: 'desc' }] }), ['First', 'Second'])
    assert.deepEqual(await names({ datetime: '2026-01-02' }), ['First'])
    assert.deepEqual(await names({ collections: [collection.id] }), ['First'])
    assert.deepEqual(await names({ collections: ['sentinel-2'] }), [])
    assert.deepEqual(await names({ type: 'mosaic' }), [])
  })

  await t.test('invalid input is rejected with its field', async () => {
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`p${i}`, { eq: i }]))
    const cases: [object, number][] = [
      [{ bbox: [0, 0, 1] }, 422],
      [{ bbox: [0, 5, 1, 1] }, 422],
      [{ bbox: [0, 0, 200, 1] }, 422],
      [{ datetime: '2026-02-30' }, 422],
      [{ datetime: '../..' }, 422],
      [{ datetime: '2026-02-02/2026-02-01' }, 422],
      [{ sortby: [{ field: 'platform' }] }, 400],
      [{ sortby: [{ field: 'constructor' }] }, 400],
      [{ sortby: [{ field: 'i.name; drop table item' }] }, 400],
      [{ sortby: [{ field: 'name', direction: 'up' }] }, 422],
      [{ query: { a: 5 } }, 422],
      [{ query: { a: { like: 'x' } } }, 422],
      [{ query: { a: { eq: null } } }, 422],
      [{ query: { a: { in: [] } } }, 422],
      [{ query: { cloud_cover: { lt: 'x' } } }, 422],
      [{ query: { cloud_cover: { lt: '1e999' } } }, 422],
      [{ query: { cloud_cover: { lt: '' } } }, 422],
      [{ query: { a: { gt: true } } }, 422],
      [{ query: { a: { toString: 1 } } }, 422],
      [{ query: many }, 422],
      [{ query: { a: { in: Array.from({ length: 101 }, (_, i) => i) } } }, 422],
      [{ limit: 1001 }, 422],
      [{ offset: 100_001 }, 422],
      [{ format: 'xml' }, 422],
      [{ base_url: 'javascript:alert(1)' }, 422],
      [{ base_url: 'https://u:p@x.example' }, 422],
    ]
    for (const [input, status] of cases) assert.equal((await search(input)).status, status, JSON.stringify(input).slice(0, 100))
  })

  await t.test('hostile strings are plain values', async () => {
    const hostile = ["' or '1'='1", "'; drop table item; --", '$1', '\\', '%', '"', '{}', "') or true --", '/* */', 'a\u2028b']
    for (const text of hostile) {
      for (const query of [
        { platform: { eq: text } },
        { [text]: { eq: 's2' } },
        { name: { in: [text] } },
        { name: { startsWith: text } },
        { [`properties.${text}`]: { startsWith: text } },
      ]) {
        assert.deepEqual(await names({ query }), [], JSON.stringify(query))
      }
      assert.equal((await search({ sortby: [{ field: text }] })).status, 400)
      assert.deepEqual(await names({ collections: [text] }), [])
      assert.equal((await w.call(owner.token, 'items.get', { item_id: text })).status, 404)
      assert.equal((await search({ datetime: text })).status, 422)
    }
    assert.deepEqual(await names({}), ['Second', 'First'])
  })

  await t.test('private projects, guests and other organizations', async () => {
    const secret = await w.ok(owner.token, 'projects.create', { name: 'Secret', visibility: 'private' })
    await w.ok(owner.token, 'items.create', {
      project_id: secret.id,
      type: 'clip',
      name: 'Hidden',
      geometry: { type: 'Point', coordinates: [1, 2] },
      datetime: '2026-01-01T00:00:00Z',
    })
    const org2 = await w.organization('Other')
    const titles = async (token: string, input: object = {}) =>
      (await w.ok(token, 'items.search_org', input)).features.map((feature: { properties: { title: string } }) => feature.properties.title)
    for (const input of [{}, { bbox: [0, 0, 3, 3] }, { sortby: [{ field: 'name' }] }]) {
      assert.ok((await titles(owner.token, input)).includes('Hidden'))
      assert.ok(!(await titles(member.token, input)).includes('Hidden'))
      assert.deepEqual(await titles(org2.owner.token, input), [])
    }
    assert.equal((await w.call(member.token, 'items.search', { project_id: secret.id })).status, 403)
    assert.equal((await w.call(org2.owner.token, 'items.search', { project_id })).status, 404)
    await w.guest(secret.id, 'viewer', org2.owner)
    assert.equal((await w.ok(org2.owner.token, 'items.search', { project_id: secret.id })).numberMatched, 1)
    const nobody = await w.person()
    assert.equal((await w.call(nobody.token, 'items.search_org', {})).status, 403)
    assert.equal(second.name, 'Second')
  })
})

// Goal: counting stops where it becomes expensive, and the response says so.
test('items.search counts exactly up to 1,001 and estimates beyond', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const scenes = (count: number): Scene[] =>
    Array.from({ length: count }, (_, i) => ({
      id: newId(),
      geometry: { type: 'Point', coordinates: [(i % 40) - 20, 10] },
      bbox: null,
      shapes: [],
      datetime: new Date(Date.UTC(2026, 0, 1) + i * 60_000).toISOString(),
      start: null,
      end: null,
      cloud: i % 2 === 0 ? 0 : 100,
      type: 'clip',
      platform: null,
      inCollection: false,
    }))
  await plant(w, org.id, org.projectId, '', scenes(1001))
  const search = async (input: object) => {
    const { numberMatched, numberReturned, numberMatchedEstimated } = await w.ok(org.owner.token, 'items.search_org', {
      limit: 10,
      ...input,
    })
    return [numberMatched, numberReturned, numberMatchedEstimated ?? false]
  }
  assert.deepEqual(await search({}), [1001, 10, false])
  assert.deepEqual(await search({ bbox: [-90, 0, 90, 20] }), [1001, 10, false])
  await plant(w, org.id, org.projectId, '', scenes(2999))
  const [all, , isEstimated] = await search({ bbox: [-90, 0, 90, 20] })
  assert.deepEqual([all, isEstimated], [4000, true])
  const [half] = await search({ query: { cloud_cover: { lt: 50 } } })
  assert.ok(Math.abs((half as number) - 2000) <= 300, `about half: ${half}`)
  assert.deepEqual(await search({ offset: 3_995, limit: 100 }), [4000, 5, false], 'the last page has the exact count')
  assert.deepEqual((await search({ offset: 5_000 })).slice(1), [0, true])
})

// Goal: a search that takes too long asks the caller to narrow it, and is not a server error.
test('a search that takes too long is rejected with advice', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const slowSearch = {
    organizationId: org.id,
    projectId: null,
    hiddenProjectIds: [],
    bbox: null,
    interval: null,
    collectionIds: null,
    type: null,
    query: [],
    orders: [],
    limit: 10,
    offset: 0,
  }
  await w.db.transaction().execute(async (tx) => {
    await sql`lock table item in access exclusive mode`.execute(tx)
    await assert.rejects(
      search(w.db, createSearchMemory(), slowSearch, 50),
      (error) => error instanceof Problem && error.status === 400 && /narrow it/.test(error.message),
    )
  })
  assert.deepEqual(await search(w.db, createSearchMemory(), slowSearch), {
    items: [],
    matched: 0,
    isEstimated: false,
    isLast: true,
    cursors: [],
  })
})
