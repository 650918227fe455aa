/**
 * Writes preview images of scenes: natural colour, and colour infrared if the sensor supports it.
 * node sandbox/scenes/preview.ts <folder> [sensor longitude latitude datetime sizePx]…
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { encodePng } from '#raster/encode/png.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { memorySource } from '#raster/source/memory.ts'
import { memorySink } from '#raster/write/sink.ts'
import { describeScene, renderScene, type SceneDescription, type SensorId } from './index.ts'

const PLACES: readonly (readonly [SensorId, number, number, string, number])[] = [
  ['sandbox-open', 2.3, 48.2, '2025-06-12T10:40:00Z', 900],
  ['sandbox-open', 2.3, 48.2, '2025-02-12T10:40:00Z', 900],
  ['sandbox-hr', 2.3, 48.2, '2025-06-12T10:40:00Z', 900],
  ['sandbox-vhr', 2.3, 48.2, '2025-06-12T10:40:00Z', 900],
  ['sandbox-open', 9.5, 46.6, '2025-08-20T10:20:00Z', 900],
  ['sandbox-open', 15, 24, '2025-03-20T09:20:00Z', 900],
  ['sandbox-open', -60, -4, '2025-09-01T14:20:00Z', 900],
  ['sandbox-dem', 9.5, 46.6, '2025-01-01T00:00:00Z', 900],
]
const ARGUMENTS_EACH = 5
/** Reflectances that are shown as white: natural colour and infrared. */
const WHITE = { natural: 0.32, infrared: 0.5 } as const
const GAMMA = 1.7

async function main(folder: string, given: readonly string[]): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const requested = Array.from({ length: Math.floor(given.length / ARGUMENTS_EACH) }, (_, k) =>
    given.slice(k * ARGUMENTS_EACH, (k + 1) * ARGUMENTS_EACH),
  )
  const list =
    requested.length > 0
      ? requested.map(([sensor, x, y, date, size]) => [sensor as SensorId, Number(x), Number(y), String(date), Number(size)] as const)
      : PLACES
  for (const [sensor, longitude, latitude, datetime, sizePx] of list) {
    const scene = describeScene({ sensor, longitude, latitude, datetime, sizePx })
    const sink = memorySink()
    // CPU time, so that other load does not count.
    const started = process.cpuUsage()
    await renderScene(scene, sink)
    const tookMs = process.cpuUsage(started).user / 1000
    const name = `${sensor.slice('sandbox-'.length)}_${longitude}_${latitude}_${datetime.slice(0, 10)}`
    console.log(
      `${name}: ${sizePx} × ${sizePx} × ${scene.bands.length} in ${tookMs.toFixed(0)} ms of processor, ` +
        `${(sink.bytes().length / 1e6).toFixed(1)} MB, cloud ${scene.cloudCover}%, sun ${scene.sunElevationDeg}°`,
    )
    await writePictures(path.join(folder, name), scene, sink.bytes())
  }
}

async function writePictures(file: string, scene: SceneDescription, bytes: Uint8Array): Promise<void> {
  const raster = await openTiff(memorySource(bytes))
  const { width, height } = scene
  const { data } = await raster.readWindow(0, { x: 0, y: 0, width, height })
  const find = (name: string): ArrayLike<number> => data[scene.bands.findIndex((band) => band.name === name)] ?? []
  if (scene.dataType === 'float32') return writeFileSync(`${file}.png`, relief(data[0] ?? [], width, height))
  writeFileSync(`${file}.png`, picture([find('red'), find('green'), find('blue')], scene, WHITE.natural))
  writeFileSync(`${file}_cir.png`, picture([find('nir'), find('red'), find('green')], scene, WHITE.infrared))
}

function picture(bands: readonly ArrayLike<number>[], { width, height, scale }: SceneDescription, white: number): Buffer {
  const data = new Uint8Array(width * height * bands.length)
  bands.forEach((band, b) => {
    for (let i = 0; i < width * height; i++)
      data[i * bands.length + b] = scale === null ? (band[i] ?? 0) : 255 * Math.min(1, ((band[i] ?? 0) * scale) / white) ** (1 / GAMMA)
  })
  return encodePng({ width, height, channels: 3, data })
}

/** Heights in grey, lit from the north-west. */
function relief(heights: ArrayLike<number>, width: number, height: number): Buffer {
  const data = new Uint8Array(width * height)
  for (let i = width + 1; i < width * height; i++) {
    const rise = heights[i]! - heights[i - width - 1]!
    data[i] = heights[i] === 0 ? 30 : Math.max(0, Math.min(255, 90 + heights[i]! / 40 + rise * 2.2))
  }
  return encodePng({ width, height, channels: 1, data })
}

const [folder, ...given] = process.argv.slice(2)
if (!folder) throw new Error('Which folder?')
await main(folder, given)
