import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextItem } from '../../packages/console/src/ui/next-item.ts'
import { placeBeside } from '../../packages/console/src/ui/place-beside.ts'
import { seeded } from '../support/random.ts'

const MARGIN_PX = 8
const GAP_PX = 6
const VIEW = { width: 1000, height: 600 }

// Goal: a panel is beside its button, turns at the edge of the window, and never leaves the window.
test('a panel opens below its button, and above it at the lower edge', () => {
  const panel = { width: 200, height: 150 }
  const button = { left: 300, top: 100, width: 80, height: 30 }
  assert.deepEqual(placeBeside(button, panel, VIEW, 'start'), { left: 300, top: 136 })
  assert.deepEqual(placeBeside(button, panel, VIEW, 'end'), { left: 180, top: 136 })
  assert.deepEqual(placeBeside({ ...button, top: 560 }, panel, VIEW, 'start'), { left: 300, top: 404 })
  assert.deepEqual(placeBeside({ ...button, left: 950 }, panel, VIEW, 'start'), { left: 792, top: 136 })
  assert.deepEqual(placeBeside({ ...button, left: 0 }, panel, VIEW, 'end'), { left: 8, top: 136 })
})

test('wherever the button is, the panel is inside the window, and covers the button only where neither side has space', () => {
  const random = seeded(26)
  for (let round = 0; round < 2_000; round++) {
    const view = { width: random.integer(320, 2_000), height: random.integer(400, 1_200) }
    const panel = { width: random.integer(1, view.width - 2 * MARGIN_PX), height: random.integer(1, view.height - 2 * MARGIN_PX) }
    const button = {
      left: random.integer(0, view.width),
      top: random.integer(0, view.height - 30),
      width: random.integer(1, 300),
      height: 30,
    }
    const { left, top } = placeBeside(button, panel, view, random.pick(['start', 'end']))
    const at = JSON.stringify({ view, panel, button, left, top })
    assert.ok(left >= MARGIN_PX && left + panel.width <= view.width - MARGIN_PX, at)
    assert.ok(top >= MARGIN_PX && top + panel.height <= view.height - MARGIN_PX, at)
    const space = Math.max(button.top, view.height - button.top - button.height) - GAP_PX - MARGIN_PX
    const isBeside = top >= button.top + button.height + GAP_PX || top + panel.height <= button.top - GAP_PX
    assert.equal(isBeside, panel.height <= space, at)
  }
})

// Goal: in a menu the arrows go round, Home and End go to the ends, and a letter finds the next item that begins with it.
test('keys move the focus in a menu', () => {
  const items = ['Edit endpoint', 'Pause', 'Rotate secret', 'Delete endpoint', 'Pin']
  const cases: readonly (readonly [number, string, number | null])[] = [
    [-1, 'ArrowDown', 0],
    [4, 'ArrowDown', 0],
    [-1, 'ArrowUp', 4],
    [0, 'ArrowUp', 4],
    [2, 'ArrowUp', 1],
    [2, 'Home', 0],
    [2, 'End', 4],
    [0, 'p', 1],
    [1, 'p', 4],
    [4, 'P', 1],
    [0, 'x', null],
    [0, ' ', null],
    [0, 'Enter', null],
  ]
  for (const [current, key, next] of cases) assert.equal(nextItem(items, current, key), next, `${key} at ${current}`)
  for (const key of ['ArrowDown', 'ArrowUp', 'Home', 'End', 'a']) assert.equal(nextItem([], -1, key), null)
})
