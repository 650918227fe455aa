// Goal: the cart holds each scene once, with the area it is wanted for, and survives the page.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { boxPolygon } from '../../packages/console/src/map/geo.ts'
import type { ChosenScene } from '../../packages/console/src/state/cart.ts'
import type { Scene } from '../../packages/console/src/state/scene.ts'

const AREA = boxPolygon([0, 0, 1, 1])
const scene = (key: string) => ({ key, id: key, host: 'vendor', geometry: boxPolygon([0, 0, 5, 5]) }) as Scene

/** An empty cart in a browser that stores it for the length of a test. */
async function cart(t: TestContext) {
  const kept = new Map<string, string>()
  const storage = { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, text: string) => void kept.set(key, text) }
  Object.defineProperty(globalThis, 'localStorage', { value: storage, configurable: true })
  t.after(() => Reflect.deleteProperty(globalThis, 'localStorage'))
  const module = await import('../../packages/console/src/state/cart.ts')
  module.clearCart()
  return { ...module, stored: () => JSON.parse(kept.get('gt-cart') ?? '[]') as ChosenScene[] }
}

test('toggling adds a scene with its area, and removes it again', async (t) => {
  const { toggleInCart, stored } = await cart(t)
  toggleInCart(scene('a'), AREA)
  assert.deepEqual(
    stored().map(({ key, area }) => [key, area]),
    [['a', AREA]],
  )
  toggleInCart(scene('a'), null)
  assert.deepEqual(stored(), [])
})

test('however it is used, the cart has what a set would have, in order, and at most a hundred', async (t) => {
  const { toggleInCart, removeFromCart, clearCart, stored } = await cart(t)
  const step = fc.record({
    what: fc.constantFrom('toggle', 'toggle', 'toggle', 'remove'),
    key: fc.integer({ min: 0, max: 150 }).map(String),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      clearCart()
      let expected: string[] = []
      for (const { what, key } of steps) {
        const isIn = expected.includes(key)
        if (what === 'remove') removeFromCart(key)
        else toggleInCart(scene(key), AREA)
        if (isIn) expected = expected.filter((other) => other !== key)
        else if (what === 'toggle') expected = [...expected, key].slice(0, 100)
        assert.deepEqual(
          stored().map(({ key: id }) => id),
          expected,
        )
      }
    }),
    { numRuns: 30 },
  )
})

test('an order takes the area, or the whole scene', async (t) => {
  const { captureOf } = await cart(t)
  assert.deepEqual(captureOf({ ...scene('a'), area: AREA }), { id: 'a', host: 'vendor', geometry: AREA })
  assert.deepEqual(captureOf({ ...scene('a'), area: null }).geometry, boxPolygon([0, 0, 5, 5]))
})
