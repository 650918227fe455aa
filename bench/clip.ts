/**
 * Polygon clip of 4096 × 4096 × 4 uint16 COGs into a new COG, against `gdalwarp -of COG -cutline` with the same codec,
 * block size and threads, once at our default level of deflate and once at the 6 that GDAL uses. Both run as a process of their
 * own; wall time and CPU time are those of that process. Our process has its main thread and one for zlib, GDAL's has one.
 * One scene has even noise of 64 levels, which repeats itself; the other, of `bench/tiles-data.py`, the bell-shaped noise of a sensor.
 * Needs GDAL's command line tools; without them it says so and measures only ours.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { crsFromEpsg } from '#raster/crs/registry.ts'
import { openFileSource } from '#raster/source/file.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { writeCog } from '#raster/write/cog.ts'
import { openFileSink } from '#raster/write/sink.ts'
import { warpToCog } from '#raster/write/warp.ts'
import { dataFile, preparePeers } from './lib/peers.ts'

const SIDE = 4096
const BANDS = 4
const ROUNDS = Number(process.argv[2] ?? 3)
const ORIGIN = { x: 300_000, y: 6_250_000, epsg: 32756, pixelM: 10 }

/** An irregular star inside a scene. */
const starAt = (longitude: number, latitude: number): object => ({
  type: 'Polygon',
  coordinates: [
    Array.from({ length: 61 }, (_, i) => {
      const angle = (2 * Math.PI * (i % 60)) / 60
      const radius = i % 2 ? 0.13 : 0.17
      return [longitude + radius * Math.cos(angle), latitude + radius * Math.sin(angle)]
    }),
  ],
})
const AIM = 2

if (process.argv[2] === 'ours') {
  const [input, output, cutline, level] = process.argv.slice(3) as [string, string, string, string?]
  const sink = await openFileSink(output)
  await warpToCog(await openTiff(await openFileSource(input)), sink, {
    geometry: JSON.parse(readFileSync(cutline, 'utf8')),
    ...(level ? { compressionLevel: Number(level) } : {}),
  })
  await sink.close()
} else await compare()

async function compare(): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-clip-'))
  try {
    const scene = path.join(folder, 'scene.tif')
    await makeScene(scene)
    preparePeers()
    await compareOn(folder, scene, starAt(151.06, -34.06))
    await compareOn(folder, dataFile('utm'), starAt(148.33, -35.43))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function compareOn(folder: string, input: string, geometry: object): Promise<void> {
  const cutline = path.join(folder, 'cutline.geojson')
  writeFileSync(cutline, JSON.stringify(geometry))
  console.log(
    `${path.basename(input)} ${SIDE} x ${SIDE} x ${BANDS} uint16, ` +
      `${Math.round(statSync(input).size / 1e6)} MB; one thread each; median of ${ROUNDS}`,
  )
  const ours = path.join(folder, 'ours.tif')
  const theirs = path.join(folder, 'gdal.tif')
  const run = { ours: [] as Timing[], level6: [] as Timing[], gdal: [] as Timing[] }
  const level6 = path.join(folder, 'level6.tif')
  const gdal = [
    '-q',
    '-overwrite',
    '-of',
    'COG',
    '-cutline',
    cutline,
    '-crop_to_cutline',
    '-dstnodata',
    '0',
    '-wo',
    'NUM_THREADS=1',
    '-co',
    'COMPRESS=DEFLATE',
    '-co',
    'LEVEL=6',
    '-co',
    'PREDICTOR=YES',
    '-co',
    'BLOCKSIZE=256',
    '-co',
    'OVERVIEW_RESAMPLING=AVERAGE',
    '-co',
    'NUM_THREADS=1',
    input,
    theirs,
  ]
  const hasGdal = spawnSync('gdalwarp', ['--version']).status === 0
  if (!hasGdal) console.log('skipped: gdalwarp is not installed, so there is nothing to compare with')
  for (let round = 0; round < ROUNDS; round++) {
    run.ours.push(time(process.execPath, [import.meta.filename, 'ours', input, ours, cutline], { UV_THREADPOOL_SIZE: '1' }))
    run.level6.push(time(process.execPath, [import.meta.filename, 'ours', input, level6, cutline, '6'], { UV_THREADPOOL_SIZE: '1' }))
    if (hasGdal) run.gdal.push(time('gdalwarp', gdal, { GDAL_NUM_THREADS: '1' }))
  }
  report('ours', run.ours, ours)
  report('ours, 6', run.level6, level6)
  if (!hasGdal) return
  report('gdalwarp', run.gdal, theirs)
  for (const [name, timings] of [
    ['our default', run.ours],
    ['at level 6 too', run.level6],
  ] as const) {
    console.log(
      `${name}: ratio wall ${(median(run.gdal, 'wallS') / median(timings, 'wallS')).toFixed(2)}x, cpu ` +
        `${(median(run.gdal, 'cpuS') / median(timings, 'cpuS')).toFixed(2)}x (above 1: ours is faster; aim ${AIM}x)`,
    )
  }
}

interface Timing {
  wallS: number
  cpuS: number
}

/** The shell's `times` tells the CPU time of what it ran. */
function time(command: string, args: readonly string[], env: Record<string, string>): Timing {
  const started = performance.now()
  const script = '"$@"; status=$?; times; exit $status'
  const done = spawnSync('bash', ['-c', script, 'bash', command, ...args], { encoding: 'utf8', env: { ...process.env, ...env } })
  if (done.status !== 0) throw new Error(`${command} failed: ${done.stderr}`)
  const wallS = (performance.now() - started) / 1000
  const [, children = ''] = done.stdout.trim().split('\n').slice(-2)
  const cpuS = [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds),
    0,
  )
  return { wallS, cpuS }
}

function median(timings: readonly Timing[], field: keyof Timing): number {
  return timings.map((timing) => timing[field]).toSorted((a, b) => a - b)[Math.floor(timings.length / 2)]!
}

function report(name: string, timings: readonly Timing[], file: string): void {
  console.log(
    `${name.padEnd(9)} wall ${median(timings, 'wallS').toFixed(2)} s  cpu ${median(timings, 'cpuS').toFixed(2)} s  ` +
      `file ${(statSync(file).size / 1e6).toFixed(1)} MB`,
  )
}

/** Smooth ground with noise on top, as imagery is: neither trivial nor impossible to compress. */
async function makeScene(file: string): Promise<void> {
  const sink = await openFileSink(file)
  const spec = {
    width: SIDE,
    height: SIDE,
    dataType: 'uint16',
    bandCount: BANDS,
    nodata: 0,
    crs: crsFromEpsg(ORIGIN.epsg),
    transform: [ORIGIN.x, ORIGIN.pixelM, 0, ORIGIN.y, 0, -ORIGIN.pixelM],
  } as const
  let seed = 1
  const noise = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return (seed >>> 24) & 63
  }
  await writeCog(sink, spec, async (y, rows) => {
    const data = new Uint16Array(SIDE * rows * BANDS)
    for (let row = 0; row < rows; row++) {
      for (let x = 0; x < SIDE; x++) {
        const ground = 1_500 + 800 * Math.sin(x / 190) * Math.cos((y + row) / 230)
        for (let band = 0; band < BANDS; band++) data[(row * SIDE + x) * BANDS + band] = ground + band * 350 + noise()
      }
    }
    const bands = [0, 1, 2, 3]
    return {
      width: SIDE,
      height: rows,
      bands,
      data: bands.map(() => data),
      starts: bands,
      stride: BANDS,
      mask: null,
      byteLength: data.byteLength,
    }
  })
  await sink.close()
}
