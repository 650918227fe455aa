/**
 * Goal: the golden rasters, which GDAL wrote in every codec, layout and data type it has, are read
 * exactly as GDAL reads them: samples, masks, overviews, georeference and metadata.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { openFileSource } from '#raster/source/file.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { differences, type Dump } from '#raster/testing/gdal-dump.ts'

const GOLDEN = new URL('../../../test/golden/raster/', import.meta.url)
const path = (name: string): string => new URL(name, GOLDEN).pathname
const index = JSON.parse(readFileSync(path('index.json'), 'utf8')) as Record<string, Dump & { samples: string }>

for (const [name, dump] of Object.entries(index)) {
  test(`${name} is read as GDAL reads it`, async () => {
    const overviews = name.startsWith('external') ? { overviews: await openFileSource(path(`${name}.tif.ovr`)) } : {}
    const raster = await openTiff(await openFileSource(path(`${name}.tif`)), overviews)
    const expected = gunzipSync(readFileSync(path(`samples/${dump.samples}.gz`)))
    assert.deepEqual(await differences(raster, dump, expected), [])
    await raster.close()
  })
}
