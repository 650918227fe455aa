/**
 * Draws rasters twice, side by side: each band stretched by itself, and natural colours as we show them. To judge colours by eye.
 *   node tools/contact-sheet.ts docs/colours.jpg [file.tif …]      without files: scenes of the sandbox's sensors
 */
import path from 'node:path'
import sharp from 'sharp'
import { createContext } from '#raster/render/context.ts'
import { parseStyle } from '#raster/render/request.ts'
import { renderThumbnail } from '#raster/render/thumbnail.ts'
import { openFileSource } from '#raster/source/file.ts'
import { memorySource } from '#raster/source/memory.ts'
import { openTiff } from '#raster/tiff/open.ts'
import type { Raster } from '#raster/types.ts'
import { memorySink } from '#raster/write/sink.ts'
import { SCENES } from '../sandbox/demo/scenes.ts'
import { describeScene, renderScene } from '../sandbox/scenes/index.ts'

const SIDE_PX = 280
const GAP_PX = 6
const COLUMNS = 3

const ELSEWHERE = [
  { sensor: 'sandbox-open', longitude: 9.5, latitude: 46.6, datetime: '2025-08-20T10:20:00Z', sizePx: 512 },
  { sensor: 'sandbox-open', longitude: 15, latitude: 24, datetime: '2025-03-20T09:20:00Z', sizePx: 512 },
  { sensor: 'sandbox-open', longitude: -60, latitude: -4, datetime: '2025-09-01T14:20:00Z', sizePx: 512 },
  { sensor: 'sandbox-hr', longitude: 2.3, latitude: 48.2, datetime: '2025-06-12T10:40:00Z', sizePx: 512 },
  { sensor: 'sandbox-vhr', longitude: 9.5, latitude: 46.6, datetime: '2025-08-20T10:20:00Z', sizePx: 512 },
] as const

async function scenes(): Promise<Raster[]> {
  const described = [...SCENES.filter(({ look }) => look).map(({ scene }) => scene), ...ELSEWHERE.map(describeScene)]
  const made: Raster[] = []
  for (const scene of described) {
    const sink = memorySink()
    await renderScene(scene, sink)
    made.push(await openTiff(memorySource(sink.bytes())))
  }
  return made
}

async function picture(raster: Raster, isNatural: boolean): Promise<Buffer | null> {
  const style = parseStyle({ visualization: 'rgb' }, raster.info)
  if (style.kind !== 'rgb') return null
  const options = { format: 'png', width: SIDE_PX, height: SIDE_PX, style: { ...style, natural: isNatural } } as const
  return await renderThumbnail(createContext(), raster, options)
}

const [target, ...files] = process.argv.slice(2)
if (!target) throw new Error('Say where the sheet goes')
const rasters =
  files.length > 0 ? await Promise.all(files.map(async (file) => await openTiff(await openFileSource(path.resolve(file))))) : await scenes()
const pairs: (readonly [Buffer, Buffer])[] = []
for (const raster of rasters) {
  const [apart, together] = [await picture(raster, false).catch(() => null), await picture(raster, true).catch(() => null)]
  if (apart && together) pairs.push([apart, together])
}
const rows = Math.ceil(pairs.length / COLUMNS)
const at = (index: number) => GAP_PX + index * (SIDE_PX + GAP_PX)
await sharp({ create: { width: at(COLUMNS * 2), height: at(rows), channels: 3, background: '#ffffff' } })
  .composite(
    pairs.flatMap((pair, index) =>
      pair.map((input, side) => ({ input, left: at((index % COLUMNS) * 2 + side), top: at(Math.floor(index / COLUMNS)) })),
    ),
  )
  .jpeg({ quality: 82 })
  .toFile(target)
console.log(`${target}: ${pairs.length} rasters, each band by itself on the left, together on the right`)
