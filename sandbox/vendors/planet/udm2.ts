/** The mask of usable data that Planet delivers beside its images: eight bands, of which clear, shadow and cloud are simulated. */
import { crsFromEpsg } from '#raster/crs/registry.ts'
import { writeCog } from '#raster/write/cog.ts'
import { memorySink } from '#raster/write/sink.ts'
import type { SceneDescription } from '../../scenes/index.ts'
import { gridOfScene } from '../../scenes/describe.ts'
import { footprintMask } from '../../scenes/footprint.ts'
import { readLine } from '../../scenes/grid.ts'
import { levelLimit, points } from '../../scenes/noise.ts'
import { CLOUD_THRESHOLD, sky, Weather } from '../../scenes/weather.ts'

const BANDS = ['clear', 'snow', 'shadow', 'light_haze', 'heavy_haze', 'cloud', 'confidence', 'unusable']
const [CLEAR, SHADOW, CLOUD, CONFIDENCE, UNUSABLE] = [0, 2, 5, 6, 7]
/** Bits of the last band: outside the image, and cloud. */
const [OUTSIDE, CLOUDY] = [1, 2]

export async function udm2Of(scene: SceneDescription): Promise<Uint8Array> {
  const { width, height, transform, epsg, gsdM, latitude } = scene
  const sun = { azimuthDeg: scene.sunAzimuthDeg, elevationDeg: scene.sunElevationDeg }
  const weather = new Weather({ capacity: width, timeMs: Date.parse(scene.datetime), limit: levelLimit(gsdM, latitude), sun })
  const grid = gridOfScene(scene)
  const [at, above] = [points(width), sky(width)]
  const bands = BANDS.map((_, band) => band)
  const sink = memorySink()
  const spec = {
    width,
    height,
    dataType: 'uint8',
    bandCount: BANDS.length,
    transform,
    crs: crsFromEpsg(epsg),
    bands: BANDS.map((name) => ({ name })),
    overviews: 'nearest',
  } as const
  await writeCog(sink, spec, async (y, rows) => {
    const samples = new Uint8Array(rows * width * BANDS.length)
    const inside = footprintMask(scene.footprint, grid, { y, count: rows, width })
    for (let row = 0; row < rows; row++) {
      readLine(at, grid, { column: 0.5, row: y + row + 0.5, stepX: 1, stepY: 0, count: width })
      weather.read(above, at)
      for (let x = 0; x < width; x++) {
        const start = (row * width + x) * BANDS.length
        if (inside[row * width + x] === 0) {
          samples[start + UNUSABLE!] = OUTSIDE!
          continue
        }
        const isCloud = above.cloud[x]! > CLOUD_THRESHOLD
        const isShadow = !isCloud && above.shade[x]! > CLOUD_THRESHOLD
        samples[start + (isCloud ? CLOUD! : isShadow ? SHADOW! : CLEAR!)] = 1
        samples[start + CONFIDENCE!] = 100
        samples[start + UNUSABLE!] = isCloud ? CLOUDY! : 0
      }
    }
    const shape = { width, height: rows, bands, starts: bands, stride: BANDS.length }
    return { ...shape, data: bands.map(() => samples), mask: null, byteLength: samples.byteLength }
  })
  return sink.bytes()
}
