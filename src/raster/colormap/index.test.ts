// Goal: well-known colormaps have their published colours and are found by name.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

import { RasterError } from '#raster/types.ts'
import { colormapGroups, colorTable, findColormap } from './index.ts'

const reference = JSON.parse(readFileSync(new URL('./reference.json', import.meta.url), 'utf8')) as {
  indices: number[]
  colors: Record<string, string>
}

test('there are at least sixty colormaps in five groups, each with its own id', () => {
  const groups = colormapGroups()
  assert.deepEqual(
    groups.map((group) => group.name),
    ['perceptual', 'sequential', 'diverging', 'elevation', 'categorical'],
  )
  const ids = groups.flatMap((group) => group.colormaps.map((colormap) => colormap.id))
  assert.ok(ids.length >= 60, `${ids.length}`)
  assert.equal(new Set(ids).size, ids.length)
  for (const id of ids) assert.match(id, /^[a-z0-9_]+$/)
})

test('stops ascend from 0 to 1 and are valid colours', () => {
  for (const { id, stops } of colormapGroups().flatMap((group) => group.colormaps)) {
    assert.equal(stops[0]?.position, 0, id)
    assert.equal(stops.at(-1)?.position, 1, id)
    stops.forEach((stop, i) => {
      assert.match(stop.color, /^#[0-9a-f]{6}$/)
      assert.ok(i === 0 || stop.position >= (stops[i - 1]?.position ?? 2), id)
    })
  }
})

test('well-known colormaps have their published colours', () => {
  for (const [id, text] of Object.entries(reference.colors)) {
    const table = colorTable(id)
    text.split(' ').forEach((hex, k) => {
      const entry = reference.indices[k] ?? 0
      for (let channel = 0; channel < 3; channel++) {
        const expected = Number.parseInt(hex.slice(channel * 2, channel * 2 + 2), 16)
        assert.equal(table[entry * 3 + channel], expected, `${id} entry ${entry}`)
      }
    })
  }
})

test('gray is black, white and every step between; stops are colours of the table', () => {
  const gray = colorTable('gray')
  // Matplotlib cuts off what does not fit a byte, which takes one from 24 of the entries.
  for (let entry = 0; entry < 256; entry++) assert.ok(entry - gray[entry * 3]! === 0 || entry - gray[entry * 3]! === 1, `${entry}`)
  assert.deepEqual([gray[0], gray[3], gray[127 * 3], gray[765]], [0, 1, 127, 255])
  for (const { id, stops } of colormapGroups().flatMap((group) => group.colormaps))
    for (const { position, color } of stops)
      assert.equal(
        `#${Buffer.from(colorTable(id)).toString('hex', Math.round(position * 255) * 3, Math.round(position * 255) * 3 + 3)}`,
        color,
        id,
      )
})

test('a colormap is found in any case, reversed with _r, and rejected if unknown', () => {
  assert.equal(findColormap('RdYlGn')?.id, 'rdylgn')
  assert.deepEqual([...colorTable('viridis_r').subarray(0, 3)], [...colorTable('viridis').subarray(765)])
  assert.equal(findColormap('nope'), null)
  for (const id of ['nope', '__proto__', 'constructor', '']) assert.throws(() => colorTable(id), RasterError)
})
