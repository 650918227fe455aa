/**
 * The servers that our tiles are measured against, on the files of `bench/tiles-data.py`. TiTiler comes from the package index,
 * into a virtual environment in the temporary folder; MapServer and spawn-fcgi are Debian's, installed by whoever runs the bench.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const FOLDER = process.env['BENCH_FOLDER'] ?? path.join(os.tmpdir(), 'groundtrack-bench')
const PYTHON = path.join(FOLDER, 'venv', 'bin', 'python')

export const dataFile = (name: string): string => path.join(FOLDER, 'data', `${name}.tif`)

/** The virtual environment and the files, made where they are not there yet. */
export function preparePeers(): void {
  mkdirSync(path.join(FOLDER, 'data'), { recursive: true })
  if (!existsSync(PYTHON)) {
    execFileSync('python3', ['-m', 'venv', path.join(FOLDER, 'venv')])
    execFileSync(PYTHON, ['-m', 'pip', '-q', 'install', 'titiler.application', 'uvicorn'], { stdio: 'inherit' })
  }
  for (const [last, what] of [
    ['dem', 'cogs'],
    ['dem-plain', 'plain'],
    ['dem-float64', 'types'],
  ] as const)
    if (!existsSync(dataFile(last)))
      execFileSync(PYTHON, [path.join(import.meta.dirname, '..', 'tiles-data.py'), path.join(FOLDER, 'data'), what], { stdio: 'inherit' })
}

/** Runs a program on one core, or where the system likes. */
function onCore(core: number | null, command: string, args: readonly string[]): [string, string[]] {
  return core === null ? [command, [...args]] : ['taskset', ['-c', String(core), command, ...args]]
}

/** With what the peer's own documentation recommends for speed. */
export function startTitiler(port: number, core: number | null): ChildProcess {
  const args = ['-m', 'uvicorn', 'titiler.application.main:app', '--port', String(port), '--workers', '1', '--log-level', 'error']
  return spawn(...onCore(core, PYTHON, args), {
    stdio: 'ignore',
    env: {
      ...process.env,
      GDAL_DISABLE_READDIR_ON_OPEN: 'EMPTY_DIR',
      GDAL_CACHEMAX: '200',
      VSI_CACHE: 'TRUE',
      GDAL_HTTP_MULTIPLEX: 'YES',
    },
  })
}

/** One raster as MapServer shows it. */
interface MapLayer {
  name: string
  file: string
  epsg: number
  /** Lines of the layer: its bands, its range, its colours. */
  processing: readonly string[]
}

export const hasMapserver = (): boolean => existsSync('/usr/bin/mapserv') && existsSync('/usr/bin/spawn-fcgi')

interface Mapserver {
  process: ChildProcess
  socket: string
}

/** One FastCGI process, whose files stay open between requests. */
export function startMapserver(layers: readonly MapLayer[], core: number | null): Mapserver {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-mapserver-'))
  const [map, config, socket] = ['tiles.map', 'mapserver.conf', 'socket'].map((name) => path.join(folder, name)) as [string, string, string]
  writeFileSync(map, mapText(layers))
  writeFileSync(config, `CONFIG\n  MAPS\n    "TILES" "${map}"\n  END\nEND\n`)
  const args = ['-n', '-s', socket, '--', '/usr/bin/mapserv']
  const child = spawn(...onCore(core, 'spawn-fcgi', args), {
    stdio: 'ignore',
    env: { ...process.env, MAPSERVER_CONFIG_FILE: config, GDAL_DISABLE_READDIR_ON_OPEN: 'EMPTY_DIR', GDAL_CACHEMAX: '200' },
  })
  return { process: child, socket }
}

export const mapserverQuery = (layer: string, { z, x, y }: { z: number; x: number; y: number }, format: string): string =>
  `map=TILES&mode=tile&tilemode=gmap&tile=${x}+${y}+${z}&layers=${layer}&map.imagetype=${format}`

/** PNG and WebP as the peer makes them by default: zlib's level 6, quality 75. JPEG as TiTiler makes it, whose quality is 85. */
function mapText(layers: readonly MapLayer[]): string {
  return `MAP
  NAME "tiles"
  SIZE 256 256
  EXTENT -20037508 -20037508 20037508 20037508
  UNITS METERS
  IMAGETYPE "png"
  PROJECTION "init=epsg:3857" END
  OUTPUTFORMAT NAME "png" DRIVER "AGG/PNG" MIMETYPE "image/png" IMAGEMODE RGBA TRANSPARENT ON END
  OUTPUTFORMAT NAME "jpeg" DRIVER "AGG/JPEG" MIMETYPE "image/jpeg" IMAGEMODE RGB FORMATOPTION "QUALITY=85" END
  OUTPUTFORMAT NAME "webp" DRIVER "GDAL/WEBP" MIMETYPE "image/webp" IMAGEMODE RGBA TRANSPARENT ON FORMATOPTION "QUALITY=75" END
${layers
  .map(
    ({ name, file, epsg, processing }) => `  LAYER
    NAME "${name}"
    TYPE RASTER
    STATUS ON
    DATA "${file}"
    PROCESSING "CLOSE_CONNECTION=DEFER"
    PROJECTION "init=epsg:${epsg}" END
    ${processing.join('\n    ')}
  END`,
  )
  .join('\n')}
END
`
}
