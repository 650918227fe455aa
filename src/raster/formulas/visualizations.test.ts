// Goal: a raster has the visualizations that its bands allow, the best first.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { parseExpression } from '#raster/expression/index.ts'
import { listVisualizations } from './visualizations.ts'

test('four bands give natural colour by default, then infrared, then the indices', () => {
  const { visualizations, default_id } = listVisualizations({ bandRoles: { RED: 1, GREEN: 2, BLUE: 3, NIR: 4 }, dataType: 'raster' })
  assert.equal(default_id, 'rgb')
  assert.deepEqual(
    visualizations.slice(0, 2).map(({ id, bands, is_default }) => ({ id, bands, is_default })),
    [
      { id: 'rgb', bands: [1, 2, 3], is_default: true },
      { id: 'cir', bands: [4, 1, 2], is_default: false },
    ],
  )
  const ndvi = visualizations.find(({ id }) => id === 'ndvi')
  assert.equal(ndvi?.expression, '(b4 - b1) / (b4 + b1)')
  assert.equal(ndvi?.rescale, '-0.2,1')
  assert.equal(visualizations.filter(({ is_default }) => is_default).length, 1)
  for (const { expression } of visualizations) if (expression !== null) parseExpression(expression, { bandCount: 4 })
})

test('a DEM has one visualization', () => {
  const { visualizations, default_id } = listVisualizations({ bandRoles: { ELEVATION: 1 }, dataType: 'dem' })
  assert.equal(visualizations.length, 1)
  assert.equal(default_id, 'elevation')
  assert.deepEqual([visualizations[0]?.kind, visualizations[0]?.bands, visualizations[0]?.colormap], ['elevation', [1], 'hypsometric'])
})

test('bands without a composite are shown one by one', () => {
  const { visualizations, default_id } = listVisualizations({ bandRoles: { VV: 1, VH: 2 }, dataType: 'raster' })
  assert.equal(default_id, 'band-1')
  assert.ok(visualizations.some(({ id }) => id === 'ndpoli'))
  assert.equal(listVisualizations({ bandRoles: {}, dataType: 'raster' }).default_id, null)
})

test('render parameters choose the default, the range and the reflectance scale', () => {
  const { visualizations, default_id } = listVisualizations({
    bandRoles: { RED: 1, GREEN: 2, BLUE: 3, NIR: 4 },
    dataType: 'raster',
    renderParams: { default_id: 'evi', rescale: '0,3000', reflectance_scale: 0.0001 },
  })
  assert.equal(default_id, 'evi')
  assert.equal(visualizations[0]?.rescale, '0,3000')
  assert.match(visualizations.find(({ id }) => id === 'evi')?.expression ?? '', /b4 \* 0\.0001/)
})
