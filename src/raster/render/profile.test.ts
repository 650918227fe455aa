import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Band, RasterInfo } from '#raster/types.ts'
import { classColors } from './color.ts'
import { defaultProfile, styleOfProfile } from './profile.ts'
import { bandNames } from './request.ts'

const band = (name: string | null, color: Band['color'] = 'undefined'): Band => ({
  name,
  color,
  nodata: null,
  scale: 1,
  offset: 0,
  unit: null,
})
const image = (bands: Band[], more: Partial<RasterInfo> = {}) =>
  ({ bands, bandCount: bands.length, dataType: 'uint16', colorTable: null, alphaBand: null, metadata: {}, ...more }) as RasterInfo

// Goal: a new image is shown as a person would expect, and nobody's ranges are written into what is saved.
test('the look that an image starts with', async (t) => {
  const cases: [string, RasterInfo, readonly string[] | null, object][] = [
    [
      'natural colours by name, whatever their order',
      image([band('blue'), band('green'), band('red'), band('nir')]),
      null,
      { name: 'Natural colour', type: 'rgb', config: { bands: [3, 2, 1] } },
    ],
    [
      'names that people gave win over the file’s',
      image([band('blue'), band('green'), band('red')]),
      ['red', 'green', 'blue'],
      { name: 'Natural colour', type: 'rgb', config: { bands: [1, 2, 3] } },
    ],
    [
      'a photograph',
      image([band(null, 'red'), band(null, 'green'), band(null, 'blue'), band(null, 'alpha')], { dataType: 'uint8', alphaBand: 3 }),
      null,
      { name: 'Natural colour', type: 'rgb', config: { bands: [1, 2, 3] } },
    ],
    [
      'bands of which nothing is known',
      image([band('one'), band('two'), band('three')]),
      null,
      { name: 'Natural colour', type: 'rgb', config: { bands: [1, 2, 3] } },
    ],
    [
      'heights',
      image([band('elevation')], { dataType: 'float32' }),
      null,
      { name: 'Elevation', type: 'singleband', config: { bands: [1], colormap: 'hypsometric' } },
    ],
    ['one band', image([band('VV')]), null, { name: 'VV', type: 'singleband', config: { bands: [1] } }],
    [
      'classes in their own colours',
      image([band(null, 'palette')], { dataType: 'uint8', colorTable: new Uint8Array(1024) }),
      null,
      { name: 'Classes', type: 'singleband', config: { bands: [1], color_table: true } },
    ],
    [
      'classes by name',
      image([band('land_cover')], { dataType: 'uint8' }),
      null,
      { name: 'Classes', type: 'singleband', config: { bands: [1], color_table: true, colormap: 'tab20' } },
    ],
    [
      'classes by what the file says',
      image([band(null)], { dataType: 'uint16', metadata: { LAYER_TYPE: 'thematic' } }),
      null,
      { name: 'Classes', type: 'singleband', config: { bands: [1], color_table: true, colormap: 'tab20' } },
    ],
    [
      'a measurement is no class',
      image([band('classified_height')], { dataType: 'float32' }),
      null,
      { name: 'classified_height', type: 'singleband', config: { bands: [1] } },
    ],
  ]
  for (const [what, info, names, expected] of cases) {
    await t.test(what, () => {
      const look = defaultProfile(info, names)
      assert.deepEqual(look, expected)
      const style = styleOfProfile(look, info, bandNames(info, names))
      assert.ok(!('ranges' in style) || style.ranges === undefined)
      if (look.config.color_table) assert.equal(style.kind, 'palette')
    })
  }
  await t.test('natural colours are stretched together, of bands without names too; other composites each band by itself', () => {
    const isNatural = (info: RasterInfo, bands: number[]) => {
      const style = styleOfProfile({ type: 'rgb', config: { bands } }, info, bandNames(info))
      return style.kind === 'rgb' && style.natural === true
    }
    const unnamed = image([band(null), band(null), band(null), band(null)])
    const named = image([band('blue'), band('green'), band('red'), band('nir')])
    assert.deepEqual([isNatural(unnamed, [1, 2, 3]), isNatural(unnamed, [3, 2, 1])], [true, false])
    assert.deepEqual([isNatural(named, [3, 2, 1]), isNatural(named, [4, 3, 2])], [true, false])
  })

  await t.test('neighbouring classes have different colours, and all are opaque', () => {
    const colors = classColors('tab20')
    for (let value = 0; value < 40; value++) {
      assert.equal(colors[value * 4 + 3], 255)
      assert.notDeepEqual(colors.subarray(value * 4, value * 4 + 3), colors.subarray((value + 1) * 4, (value + 1) * 4 + 3))
    }
  })
  await t.test('what a look cannot show is refused', () => {
    const info = image([band('a')], { dataType: 'float32' })
    assert.throws(() => styleOfProfile({ type: 'singleband', config: { bands: [1], color_table: true } }, info, {}), /colour table/)
    assert.throws(() => styleOfProfile({ type: 'rgb', config: { bands: [3, 2, 1] } }, info, {}), /does not exist/)
  })
})
