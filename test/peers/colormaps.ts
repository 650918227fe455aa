// Goal: a colormap with a name that Matplotlib has looks exactly as Matplotlib draws it, entry by entry.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'

import { colormapGroups, colorTable } from '#raster/colormap/index.ts'

/** Ours, which Matplotlib does not have. */
const OWN = new Set('ndvi moisture thermal burn change hypsometric bathymetry topobathy relief landcover'.split(' '))

test('all colormaps that Matplotlib has too are its own', () => {
  const script = fileURLToPath(new URL('colormaps.py', import.meta.url))
  const theirs = JSON.parse(execFileSync(process.env['PEER_PYTHON'] ?? 'python3', [script], { encoding: 'utf8' })) as Record<string, string>
  const ids = colormapGroups().flatMap(({ colormaps }) => colormaps.map(({ id }) => id))
  const compared = ids.filter((id) => !OWN.has(id))
  assert.ok(compared.length >= 73, `${compared.length}`)
  assert.deepEqual(
    compared.filter((id) => Buffer.from(colorTable(id)).toString('hex') !== theirs[id]),
    [],
  )
})
