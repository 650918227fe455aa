/** Goal: every real raster at hand looks at least as good as in rio-tiler and QGIS when nobody says how: a sheet to judge by eye.
 *
 *   python3 -m venv venv && venv/bin/pip install rio-tiler; apt-get install python3-qgis
 *   RIO_TILER=venv/bin/python npm run bench -- colours [docs/colours.jpg] [file.tif …]
 *
 * Without files it takes those of ../shared/data/cogs. Ours are the colours that an upload gets, found as for tiles.
 */
import { execFile } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import sharp, { type OverlayOptions } from 'sharp'
import { createContext, resolveRanges } from '#raster/render/context.ts'
import { defaultProfile, styleOfProfile } from '#raster/render/profile.ts'
import { bandNames } from '#raster/render/request.ts'
import { renderThumbnail } from '#raster/render/thumbnail.ts'
import { openFileSource } from '#raster/source/file.ts'
import { openTiff } from '#raster/tiff/open.ts'

const SIDE_PX = 210
const GAP_PX = 8
const LABEL_PX = 18
/** Rasters beside each other, each as three pictures. */
const ACROSS = 2
const PEER_TIMEOUT_MS = 600_000
const PEER = path.join(import.meta.dirname, 'colours-peer.py')
const run = promisify(execFile)

const [target = 'docs/colours.jpg', ...given] = process.argv.slice(2)
const files = given.length > 0 ? given : globSync(path.join(import.meta.dirname, '../../shared/data/cogs/*.tif')).toSorted()
if (files.length === 0) throw new Error('There are no rasters: name some, or put them into ../shared/data/cogs')

async function drawOurs(file: string, folder: string): Promise<void> {
  const raster = await openTiff(await openFileSource(path.resolve(file)))
  const context = createContext()
  const style = styleOfProfile(defaultProfile(raster.info), raster.info, bandNames(raster.info))
  const ranges = await resolveRanges(context, raster, style, { unscale: false })
  const picture = await renderThumbnail(context, raster, {
    format: 'png',
    width: SIDE_PX,
    height: SIDE_PX,
    style: style.kind === 'palette' ? style : { ...style, ranges },
  })
  await sharp(picture).toFile(path.join(folder, `${path.basename(file)}.png`))
  await raster.close()
}

async function drawTheirs(program: 'rio-tiler' | 'qgis', python: string, folder: string): Promise<void> {
  const env = { ...process.env, QT_QPA_PLATFORM: 'offscreen', XDG_RUNTIME_DIR: folder, HOME: folder }
  const { stderr } = await run(python, [PEER, program, String(SIDE_PX), folder, ...files.map((file) => path.resolve(file))], {
    env,
    timeout: PEER_TIMEOUT_MS,
  })
  for (const line of stderr.split('\n').filter((text) => text.includes('.tif: '))) console.log(`${program}: ${line}`)
}

/** On white, as a page shows it; grey where somebody has no picture. */
async function cell(file: string): Promise<Buffer> {
  const background = existsSync(file) ? '#ffffff' : '#d8dde0'
  const blank = { create: { width: SIDE_PX, height: SIDE_PX, channels: 3, background } } as const
  if (!existsSync(file)) return await sharp(blank).png().toBuffer()
  const fitted = sharp(file).toColourspace('srgb').resize(SIDE_PX, SIDE_PX, { fit: 'contain', background: '#ffffff' })
  return await fitted.flatten({ background: '#ffffff' }).png().toBuffer()
}

const words = (text: string, width: number) =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${LABEL_PX}"><text x="0" y="13" font-family="sans-serif" ` +
      `font-size="12" fill="#26323a">${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text></svg>`,
  )

const work = mkdtempSync(path.join(tmpdir(), 'colours-'))
const programs = ['groundtrack', 'rio-tiler', 'qgis'] as const
try {
  const folders = programs.map((name) => path.join(work, name))
  for (const folder of folders) mkdirSync(folder)
  for (const file of files) await drawOurs(file, folders[0]!)
  await drawTheirs('rio-tiler', process.env['RIO_TILER'] ?? 'python3', folders[1]!)
  await drawTheirs('qgis', process.env['PYQGIS'] ?? '/usr/bin/python3', folders[2]!)
  const across = (index: number) => GAP_PX + index * (SIDE_PX + GAP_PX)
  const down = (row: number) => GAP_PX + LABEL_PX + row * (SIDE_PX + LABEL_PX + GAP_PX)
  const layers: OverlayOptions[] = []
  for (let column = 0; column < ACROSS * programs.length; column++)
    layers.push({ input: words(['Groundtrack', 'rio-tiler', 'QGIS'][column % 3]!, SIDE_PX), left: across(column), top: GAP_PX })
  for (const [index, file] of files.entries()) {
    const [row, first] = [Math.floor(index / ACROSS), (index % ACROSS) * programs.length]
    layers.push({ input: words(path.basename(file), SIDE_PX * 3), left: across(first), top: down(row) })
    for (const [side, folder] of folders.entries())
      layers.push({
        input: await cell(path.join(folder, `${path.basename(file)}.png`)),
        left: across(first + side),
        top: down(row) + LABEL_PX,
      })
  }
  const size = { width: across(ACROSS * programs.length), height: down(Math.ceil(files.length / ACROSS)) }
  await sharp({ create: { ...size, channels: 3, background: '#ffffff' } })
    .composite(layers)
    .jpeg({ quality: 82 })
    .toFile(target)
  console.log(`${target}: ${files.length} rasters as Groundtrack, rio-tiler and QGIS show them by themselves`)
} finally {
  rmSync(work, { recursive: true, force: true })
}
