/** Rasters of classes, and the polygons that are made of them. */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Position } from '#core/geometry.ts'
import { crsFromEpsg } from '#raster/crs/registry.ts'
import { polygonize } from '#raster/process/polygonize.ts'
import { memorySource } from '#raster/source/memory.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { writeCog } from '#raster/write/cog.ts'
import { memorySink } from '#raster/write/sink.ts'
import type { CogSpec } from '#raster/write/spec.ts'

interface Classes {
  width: number
  height: number
  epsg: number
  transform: [number, number, number, number, number, number]
  value: (x: number, y: number) => number
}

/** Leaves `classes.tif` and `polygons.geojson` in the folder. */
export async function polygons(folder: string, { width, height, epsg, transform, value }: Classes): Promise<Position[][][]> {
  const sink = memorySink()
  const spec: CogSpec = {
    width,
    height,
    dataType: 'uint8',
    bandCount: 1,
    nodata: 0,
    crs: crsFromEpsg(epsg),
    transform,
    bands: [{ name: 'class' }],
    blockSize: 64,
  }
  await writeCog(sink, spec, async (y, rows) => {
    const data = Uint8Array.from({ length: width * rows }, (_, i) => value(i % width, y + Math.floor(i / width)))
    return { width, height: rows, bands: [0], data: [data], starts: [0], stride: 1, mask: null, byteLength: data.byteLength }
  })
  await writeFile(path.join(folder, 'classes.tif'), sink.bytes())
  const raster = await openTiff(memorySource(sink.bytes()))
  const file = path.join(folder, 'polygons.geojson')
  await polygonize({
    rasters: [raster],
    options: {},
    files: { 'polygons.geojson': file },
    temporaryDirectory: folder,
    compression: 'deflate',
    signal: new AbortController().signal,
    onProgress: () => {},
  })
  const { features } = JSON.parse(await readFile(file, 'utf8')) as { features: { geometry: { coordinates: Position[][] } }[] }
  return features.map(({ geometry }) => geometry.coordinates)
}
