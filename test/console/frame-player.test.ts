// Goal: a frame is shown only when all of its tiles are there, the next ones are loaded meanwhile, few are kept, and nothing flickers.
import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { FramePlayer, type MapFrame } from '../../packages/console/src/map/frame-player.ts'

const frame = (...names: string[]): MapFrame => names.map((name) => ({ tiles: `https://here/${name}/{z}/{x}/{y}.webp` }))
const nameOf = (id: string) => /here\/([^/]+)/.exec(id)![1]!

/** The parts of the map library that the player uses, with tiles that arrive when the test says so. The journey uses the real one. */
function standIn(t: TestContext, instant: readonly string[] = []) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  const listeners = new Map<string, Set<(event: object) => void>>()
  const opacity = new Map<string, number>()
  const loaded = new Set<string>(instant)
  const order = ['base', 'above-rasters', 'footprint']
  let isMoving = false
  const map = {
    on: (name: string, listener: (event: object) => void) => void listeners.set(name, (listeners.get(name) ?? new Set()).add(listener)),
    off: (name: string, listener: (event: object) => void) => void listeners.get(name)?.delete(listener),
    isMoving: () => isMoving,
    isSourceLoaded: (id: string) => loaded.has(nameOf(id)),
    getLayersOrder: () => order,
    addSource: () => undefined,
    addLayer: ({ id, paint }: { id: string; paint: Record<string, number> }, before: string) => {
      order.splice(order.indexOf(before), 0, id)
      opacity.set(id, paint['raster-opacity']!)
    },
    setPaintProperty: (id: string, _name: string, value: number) => void opacity.set(id, value),
    getLayer: (id: string) => opacity.has(id),
    getSource: (id: string) => opacity.has(id),
    removeLayer: (id: string) => {
      opacity.delete(id)
      order.splice(order.indexOf(id), 1)
    },
    removeSource: () => undefined,
  }
  const fire = (name: string, event: object = {}) => [...(listeners.get(name) ?? [])].forEach((listener) => listener(event))
  const idOf = (name: string) => [...opacity.keys()].find((id) => nameOf(id) === name)!
  return {
    shared: { map, ready: Promise.resolve() } as unknown as ConstructorParameters<typeof FramePlayer>[0],
    now: () => Date.now(),
    order,
    listeners,
    added: () => [...opacity.keys()].map(nameOf),
    opacityOf: (name: string) => opacity.get(idOf(name)),
    seen: () => [...opacity].flatMap(([id, value]) => (value > 0 ? [nameOf(id)] : [])),
    arrive(name: string) {
      loaded.add(name)
      fire('sourcedata', { sourceId: idOf(name) })
    },
    fail(name: string) {
      fire('error', { sourceId: idOf(name) })
      loaded.add(name)
      fire('sourcedata', { sourceId: idOf(name) })
    },
    move(moving: boolean) {
      isMoving = moving
      if (!moving) fire('idle')
    },
  }
}

const FRAMES = ['a', 'b', 'c', 'd', 'e'].map((name) => frame(name))

test('the frame that is seen stays until the next one is complete', async (t) => {
  const here = standIn(t)
  const shown: unknown[] = []
  const player = new FramePlayer(here.shared, (each) => shown.push(each), here.now)
  player.setFrames([frame('a'), frame('b1', 'b2'), frame('c')], 0)
  await turn()
  assert.deepEqual(here.added(), ['a'], 'those after it do not take its bandwidth')
  assert.deepEqual(here.seen(), [])
  here.arrive('a')
  assert.deepEqual(here.seen(), ['a'])
  assert.deepEqual(here.added(), ['a', 'b1', 'b2'])
  assert.ok(
    here.order.indexOf('footprint') === here.order.length - 1 && here.order.indexOf('above-rasters') === 1,
    'between imagery and marks',
  )
  player.goTo(1)
  await turn()
  t.mock.timers.tick(1_000)
  here.arrive('b1')
  assert.deepEqual(here.seen(), ['a'])
  here.arrive('b2')
  assert.deepEqual(here.seen(), ['b1', 'b2'])
  assert.deepEqual(shown, [
    { index: 0, hasGaps: false },
    { index: 1, hasGaps: false },
  ])
})

test('few frames are kept, and those ahead go round', async (t) => {
  const here = standIn(t, ['a', 'b', 'c', 'd', 'e'])
  const player = new FramePlayer(here.shared, () => undefined, here.now)
  player.setFrames(FRAMES, 0)
  for (const [index, kept] of [
    [0, ['a', 'b', 'c']],
    [1, ['b', 'c', 'd']],
    [4, ['a', 'b', 'e']],
  ] as const) {
    player.goTo(index)
    await turn()
    t.mock.timers.tick(1_000)
    assert.deepEqual(here.added().toSorted(), kept)
  }
})

test('however fast the slider moves, the picture changes at most three times a second', async (t) => {
  const here = standIn(t, ['a', 'b', 'c', 'd', 'e'])
  const times: number[] = []
  const player = new FramePlayer(here.shared, () => times.push(Date.now()), here.now)
  player.setFrames(FRAMES, 0)
  for (let n = 0; n < 100; n++) {
    player.goTo(n % FRAMES.length)
    await turn()
    t.mock.timers.tick(20)
  }
  assert.ok(times.length > 3, `${times.length} changes in two seconds`)
  for (const [index, time] of times.entries()) if (index > 0) assert.ok(time - times[index - 1]! >= 1000 / 3, `${times.join()}`)
})

test('nothing changes while the map moves, and a failed tile is a gap that is reported', async (t) => {
  const here = standIn(t, ['a'])
  const shown: unknown[] = []
  const player = new FramePlayer(here.shared, (each) => shown.push(each), here.now)
  player.setFrames(FRAMES, 0)
  await turn()
  here.move(true)
  player.goTo(1)
  await turn()
  t.mock.timers.tick(1_000)
  here.fail('b')
  assert.deepEqual(here.seen(), ['a'])
  here.move(false)
  assert.deepEqual(here.seen(), ['b'])
  assert.deepEqual(shown.at(-1), { index: 1, hasGaps: true })
})

test('another style replaces the frame only when it is there, and closing removes everything', async (t) => {
  const here = standIn(t, ['a', 'b'])
  const shown: unknown[] = []
  const player = new FramePlayer(here.shared, (each) => shown.push(each), here.now)
  player.setFrames([frame('a'), frame('b')], 0)
  await turn()
  player.setFrames([frame('a-ndvi'), frame('b-ndvi')], 0)
  await turn()
  t.mock.timers.tick(1_000)
  assert.deepEqual(here.seen(), ['a'])
  here.arrive('a-ndvi')
  assert.deepEqual(here.seen(), ['a-ndvi'])
  assert.deepEqual(here.added().toSorted(), ['a-ndvi', 'b-ndvi'])
  player.close()
  assert.deepEqual(here.added(), [])
  assert.equal(shown.at(-1), null)
  assert.ok([...here.listeners.values()].every(({ size }) => size === 0))
})

test('who waits for a frame is told when it is seen, or when they give up', async (t) => {
  const here = standIn(t, ['a', 'b'])
  const player = new FramePlayer(here.shared, () => undefined, here.now)
  player.setFrames(FRAMES, 0)
  await turn()
  const second = player.show(1, new AbortController().signal)
  await turn()
  t.mock.timers.tick(1_000)
  await second
  assert.deepEqual(here.seen(), ['b'])
  const stopped = new AbortController()
  const third = player.show(2, stopped.signal)
  stopped.abort()
  await assert.rejects(third, /abort/)
  await assert.rejects(player.show(1, stopped.signal), /abort/)
})

test('frames have the opacity of the layer in whose place they are, whenever it changes', async (t) => {
  const here = standIn(t, ['a', 'b', 'c'])
  const player = new FramePlayer(here.shared, () => undefined, here.now)
  player.setOpacity(0.5)
  player.setFrames([frame('a'), frame('b'), frame('c')], 0)
  await turn()
  assert.equal(here.opacityOf('a'), 0.5)
  assert.equal(here.opacityOf('b'), 0, 'loaded ahead, and not seen')
  player.setOpacity(0.25)
  assert.deepEqual([here.opacityOf('a'), here.opacityOf('b')], [0.25, 0])
  player.goTo(1)
  await turn()
  t.mock.timers.tick(1_000)
  assert.equal(here.opacityOf('b'), 0.25)
  assert.deepEqual(here.seen(), ['b'])
  player.close()
  player.setOpacity(1)
  assert.deepEqual(here.added(), [])
})
