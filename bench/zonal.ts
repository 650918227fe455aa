/**
 * Zonal statistics against `exactextract`, on this machine, on the same file and the same parcels in one run: 25,000 parcels over
 * 10,000 × 10,000 pixels, then one parcel in 200 scenes. PEER_PYTHON is a Python with `exactextract`, `rasterio` and `numpy`.
 * Ratios are of CPU time, since cores here are shared; wall times stand beside them.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

import { crsFromEpsg } from '#raster/crs/registry.ts'
import { openFileSource } from '#raster/source/file.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { writeCog } from '#raster/write/cog.ts'
import { openFileSink } from '#raster/write/sink.ts'
import { zonalStatistics, type ZonalStatistic } from '#raster/zonal/index.ts'

const FOLDER = process.env['BENCH_FOLDER'] ?? path.join(os.tmpdir(), 'groundtrack-bench-zonal')
const PYTHON = process.env['PEER_PYTHON'] ?? 'python3'
const SIDE = 10_000
const PARCELS_A_SIDE = 158
const SCENES = 200
const SCENE_SIDE = 1_024
const DEGREES = 1e-4
const [WEST, NORTH] = [10, 50] as const
const PEER_LIMIT_MS = 240_000

const BASIC: readonly ZonalStatistic[] = ['count', 'sum', 'mean', 'min', 'max', 'std', 'variance']
const ALL: readonly ZonalStatistic[] = [...BASIC, 'median', 'majority', 'minority', 'variety']
const PERCENTILES = [10, 90]

/** The same numbers on every machine. */
function randoms(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

async function writeRaster(file: string, side: number, bandCount: number, seed: number): Promise<void> {
  const sink = await openFileSink(file)
  const random = randoms(seed)
  await writeCog(
    sink,
    {
      width: side,
      height: side,
      dataType: 'uint16',
      bandCount,
      crs: crsFromEpsg(4326),
      transform: [WEST, DEGREES, 0, NORTH, 0, -DEGREES],
      nodata: 0,
      blockSize: 512,
      compression: 'deflate',
      compressionLevel: 1,
      overviews: 'none',
    },
    async (y, rows) => {
      const data = new Uint16Array(side * rows * bandCount)
      for (let i = 0; i < data.length; i++) {
        const pixel = Math.floor(i / bandCount)
        const [x, row] = [pixel % side, y + Math.floor(pixel / side)]
        data[i] = 1_000 + 600 * Math.sin(x / 211) * Math.cos(row / 173) + (i % bandCount) * 900 + random() * 200
      }
      const bands = Array.from({ length: bandCount }, (_, band) => band)
      return {
        width: side,
        height: rows,
        bands,
        data: bands.map(() => data),
        starts: bands,
        stride: bandCount,
        mask: null,
        byteLength: data.byteLength,
      }
    },
  )
  await sink.close()
}

/** A field with a bent edge or two, about as large as its cell. */
function parcels(): object[] {
  const random = randoms(7)
  const step = SIDE / PARCELS_A_SIDE
  return Array.from({ length: PARCELS_A_SIDE ** 2 + 36 }, (_, index) => {
    const [cx, cy] = [((index % PARCELS_A_SIDE) + 0.5) * step, ((Math.floor(index / PARCELS_A_SIDE) % PARCELS_A_SIDE) + 0.5) * step]
    const corners = 6 + Math.floor(random() * 8)
    const ring = Array.from({ length: corners }, (__, k) => {
      const [angle, radius] = [((k + 0.6 * random()) / corners) * 2 * Math.PI, step * (0.38 + 0.3 * random())]
      const x = Math.min(SIDE, Math.max(0, cx + radius * Math.cos(angle)))
      const y = Math.min(SIDE, Math.max(0, cy + radius * Math.sin(angle)))
      return [WEST + x * DEGREES, NORTH - y * DEGREES]
    })
    return { type: 'Feature', properties: { id: index }, geometry: { type: 'Polygon', coordinates: [[...ring, ring[0]]] } }
  })
}

const sceneFile = (index: number) => path.join(FOLDER, `scene-${index % 20}.tif`)

async function prepare(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  if (existsSync(path.join(FOLDER, 'parcels.json'))) return
  await writeRaster(path.join(FOLDER, 'large.tif'), SIDE, 1, 1)
  for (let index = 0; index < 20; index++) await writeRaster(sceneFile(index), SCENE_SIDE, 2, 100 + index)
  writeFileSync(path.join(FOLDER, 'parcels.json'), JSON.stringify({ type: 'FeatureCollection', features: parcels() }))
}

interface Timing {
  ms: number
  cpuMs: number
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T } & Timing> {
  const [started, used] = [performance.now(), process.cpuUsage()]
  const result = await work()
  const { user, system } = process.cpuUsage(used)
  return { result, ms: performance.now() - started, cpuMs: (user + system) / 1000 }
}

type Feature = { geometry: object }

/** Our side, in a process of its own, so that its memory is its own too. */
async function ours(): Promise<void> {
  const { features } = JSON.parse(readFileSync(path.join(FOLDER, 'parcels.json'), 'utf8')) as { features: Feature[] }
  const zones = features.map(({ geometry }) => geometry)
  const many = async (statistics: readonly ZonalStatistic[], percentiles: readonly number[]) => {
    const raster = await openTiff(await openFileSource(path.join(FOLDER, 'large.tif')))
    const { zones: found } = await zonalStatistics(raster, { zones, statistics, percentiles })
    await raster.close()
    return found.map(([summary]) => [...statistics.map((name) => summary!.values[name] ?? null), ...summary!.percentiles])
  }
  const series = async () => {
    const means: (number | null)[] = []
    for (let index = 0; index < SCENES; index++) {
      const raster = await openTiff(await openFileSource(sceneFile(index)))
      const { zones: found } = await zonalStatistics(raster, { zones: [FIELD], expression: '(b2 - b1) / (b2 + b1)', statistics: ['mean'] })
      await raster.close()
      means.push(found[0]![0]!.values.mean ?? null)
    }
    return means
  }
  const basic = await timed(() => many(BASIC, []))
  const all = await timed(() => many(ALL, PERCENTILES))
  await series()
  const time = await timed(series)
  writeFileSync(path.join(FOLDER, 'ours.json'), JSON.stringify({ basic, all, time, maxRssMb: process.resourceUsage().maxRSS / 1024 }))
}

const FIELD = {
  type: 'Polygon',
  coordinates: [
    [
      [WEST + 0.03, NORTH - 0.02],
      [WEST + 0.0412, NORTH - 0.0213],
      [WEST + 0.0404, NORTH - 0.0302],
      [WEST + 0.0291, NORTH - 0.0307],
      [WEST + 0.03, NORTH - 0.02],
    ],
  ],
}

interface Side {
  basic: Timing & { result: (number | null)[][] }
  all: Timing & { result: (number | null)[][] }
  time: Timing & { result: (number | null)[] }
  maxRssMb: number
}

/** The largest relative difference of a statistic over all parcels. */
function worst(mine: readonly (number | null)[][], theirs: readonly (number | null)[][], column: number, isWhole: boolean): number {
  let most = 0
  mine.forEach((row, index) => {
    const [a, b] = [row[column] ?? 0, theirs[index]![column] ?? 0]
    // What exactextract gives as a percentile of integers is cut to an integer.
    const difference = Math.abs((isWhole ? Math.trunc(a + 1e-7) : a) - b) / Math.max(1e-12, Math.abs(b))
    most = Math.max(most, difference)
  })
  return most
}

function compare(mine: Side, peer: Side): void {
  const line = (name: string, a: Timing, b: Timing) =>
    console.log(
      `${name.padEnd(44)}${a.ms.toFixed(0).padStart(8)}${b.ms.toFixed(0).padStart(10)}${a.cpuMs.toFixed(0).padStart(10)}` +
        `${b.cpuMs.toFixed(0).padStart(10)}   ${(b.cpuMs / a.cpuMs).toFixed(2)}× CPU, ${(b.ms / a.ms).toFixed(2)}× wall`,
    )
  console.log(`${''.padEnd(44)}${'ours ms'.padStart(8)}${'peer ms'.padStart(10)}${'ours CPU'.padStart(10)}${'peer CPU'.padStart(10)}`)
  line(`${mine.basic.result.length} parcels, moments`, mine.basic, peer.basic)
  line(`${mine.all.result.length} parcels, moments and percentiles`, mine.all, peer.all)
  line(`${SCENES} scenes, one parcel, NDVI`, mine.time, peer.time)
  console.log(`memory: ours ${mine.maxRssMb.toFixed(0)} MB, peer ${peer.maxRssMb.toFixed(0)} MB`)
  const names = [...ALL, ...PERCENTILES.map((percentile) => `p${percentile}`)]
  const isWhole = (name: string) => name === 'median' || name.startsWith('p')
  for (const [column, name] of names.entries())
    console.log(`${name.padEnd(10)} differs by at most ${worst(mine.all.result, peer.all.result, column, isWhole(name)).toExponential(1)}`)
  const series = mine.time.result.map((value, index) => Math.abs(value! - peer.time.result[index]!) / Math.abs(peer.time.result[index]!))
  console.log(`series     differs by at most ${Math.max(...series).toExponential(1)}`)
}

if (process.argv[2] === 'ours') await ours()
else {
  await prepare()
  execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', import.meta.filename, 'ours'], { stdio: 'inherit' })
  execFileSync(PYTHON, [path.join(import.meta.dirname, 'zonal-peer.py'), FOLDER, JSON.stringify(FIELD), String(SCENES)], {
    stdio: 'inherit',
    timeout: PEER_LIMIT_MS,
  })
  const read = (name: string) => JSON.parse(readFileSync(path.join(FOLDER, name), 'utf8')) as Side
  compare(read('ours.json'), read('peer.json'))
}
