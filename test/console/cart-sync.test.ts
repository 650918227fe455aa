// Goal: a cart that was changed on two devices has what either added and nothing that either removed; a draft comes back as it was; and
// only prices that changed are reported.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { boxPolygon } from '../../packages/console/src/map/geo.ts'
import type { ChosenScene } from '../../packages/console/src/state/cart.ts'
import { captureFrom, chosenFrom, type DraftCapture } from '../../packages/console/src/state/draft-captures.ts'

const storage = { getItem: () => null, setItem: () => undefined }
Object.defineProperty(globalThis, 'localStorage', { value: storage, configurable: true })
const { merged } = await import('../../packages/console/src/state/cart-sync.ts')
const { changesSince } = await import('../../packages/console/src/state/quote.ts')

const scene = (id: string, more: Partial<ChosenScene> = {}) =>
  ({
    key: `shop/${id}`,
    id,
    host: 'shop',
    title: id,
    source: 'Shop',
    area: null,
    geometry: boxPolygon([0, 0, 5, 5]),
    ...more,
  }) as ChosenScene
const ids = (scenes: readonly ChosenScene[]) => scenes.map(({ id }) => id).toSorted()

test('merging keeps additions and removals of both sides', () => {
  const letters = fc.uniqueArray(fc.constantFrom(...'abcdefgh'))
  fc.assert(
    fc.property(letters, letters, letters, (before, here, there) => {
      const next = merged(
        before.map((id) => `shop/${id}`),
        here.map((id) => scene(id)),
        there.map((id) => scene(id)),
      )
      const expected = [...'abcdefgh'].filter((id) =>
        before.includes(id) ? here.includes(id) && there.includes(id) : here.includes(id) || there.includes(id),
      )
      assert.deepEqual(ids(next), expected)
    }),
  )
})

test('another area is another choice; that of this device counts', () => {
  const [small, large] = [boxPolygon([0, 0, 1, 1]), boxPolygon([0, 0, 2, 2])]
  const next = merged([], [scene('a', { area: small })], [scene('a', { area: large })])
  assert.deepEqual(
    next.map(({ area }) => area),
    [small],
  )
})

const stored = (chosen: ChosenScene, credits: number | null = null) =>
  JSON.parse(JSON.stringify(captureFrom(chosen, credits))) as DraftCapture

test('a draft keeps what is shown of a scene, in few characters, and pictures only of this service', () => {
  const chosen = scene('a', { area: boxPolygon([0, 0, 1, 1]), thumbnail: '/api/thumbnail', datetime: '2030-01-01T00:00:00Z' })
  const back = chosenFrom(stored(chosen))
  assert.deepEqual([back.key, back.area, back.thumbnail, back.datetime], [chosen.key, chosen.area, '/api/thumbnail', chosen.datetime])
  const ring = Array.from({ length: 500 }, (_, at): [number, number] => [Math.cos(at / 80), Math.sin(at / 80)])
  const large = stored(scene('b', { geometry: { type: 'Polygon', coordinates: [[...ring, ring[0]!]] } }))
  assert.ok(JSON.stringify(large.scene).length < 4_096)
  for (const thumbnail of ['https://elsewhere.example/x', '//elsewhere.example/x', 7])
    assert.equal(chosenFrom({ ...stored(chosen), scene: { thumbnail } }).thumbnail, null)
  assert.equal(chosenFrom({ id: 'x', host: 'shop', geometry: null, scene: {}, quoted_credits: null }).title, 'x')
})

test('only prices that changed are reported, and what can no longer be ordered', () => {
  const scenes = ['same', 'dearer', 'gone', 'new'].map((id) => scene(id))
  const captures = [310, 310, 310, null].map((credits, index) => stored(scenes[index]!, credits))
  const quotes = new Map([
    ['shop/same', { credits: 310, refusal: null }],
    ['shop/dearer', { credits: 465, refusal: null }],
    ['shop/gone', { credits: null, refusal: 'Sold out' }],
    ['shop/new', { credits: 100, refusal: null }],
  ])
  assert.deepEqual(
    changesSince(captures, scenes, quotes).map(({ scene: { id }, before, after, refusal }) => [id, before, after, refusal]),
    [
      ['dearer', 310, 465, null],
      ['gone', 310, null, 'Sold out'],
      ['new', null, 100, null],
    ],
  )
})
