/**
 * Zonal statistics against `exactextract`, on this machine, on the same file and the same parcels in one run: 25,000 parcels over
 * 10,000 × 10,000 pixels, then one parcel in 200 scenes, each opened anew by both. PEER_PYTHON is a Python with `exactextract`,
 * `rasterio` and `numpy`. Both work in one thread. Ratios are of CPU time, since cores here are shared; wall times stand beside them.
 * `npm run bench -- zonal series [rounds]` measures the scenes alone, both sides in turns, and shows medians.
 * A value that differs is shown with the pixel that decides, and anything that such a pixel does not explain is a failure.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

import { crsFromEpsg } from '#raster/crs/registry.ts'
import { openFileSource } from '#raster/source/file.ts'
import { sliverOf } from '#raster/statistics/area.ts'
import { openTiff } from '#raster/tiff/open.ts'
import type { TiffRaster } from '#raster/tiff/raster.ts'
import { writeCog } from '#raster/write/cog.ts'
import { openFileSink } from '#raster/write/sink.ts'
import type { CogSpec } from '#raster/write/spec.ts'
import { zonalStatistics, type ZonalStatistic } from '#raster/zonal/index.ts'
import { zonalSeries } from '#raster/zonal/series.ts'
import { FIELD, NORTH, WEST } from './lib/parcel.ts'

const FOLDER = process.env['BENCH_FOLDER'] ?? path.join(os.tmpdir(), 'groundtrack-bench-zonal')
const PYTHON = process.env['PEER_PYTHON'] ?? 'python3'
const SIDE = 10_000
const PARCELS_A_SIDE = 158
const SCENES = 200
const SCENE_SIDE = 1_024
const DEGREES = 1e-4
const PEER_LIMIT_MS = 1_800_000

const BASIC: readonly ZonalStatistic[] = ['count', 'sum', 'mean', 'min', 'max', 'std', 'variance']
const ALL: readonly ZonalStatistic[] = [...BASIC, 'median', 'majority', 'minority', 'variety']
const PERCENTILES = [10, 90]

type Kept = Pick<CogSpec, 'blockSize' | 'compression' | 'compressionLevel'>
/** Scenes as GDAL's COG driver cuts them, with deflate, and as the platform writes them. */
const AS_GDAL: Kept = { blockSize: 512, compression: 'deflate', compressionLevel: 1 }
const FORMS = { gdal: AS_GDAL, platform: { blockSize: 256, compression: 'zstd' } } as const satisfies Record<string, Kept>
type Form = keyof typeof FORMS
const FORM_NAMES = Object.keys(FORMS) as Form[]

/** The same numbers on every machine. */
function randoms(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

async function writeRaster(file: string, side: number, bandCount: number, seed: number, kept: Kept = AS_GDAL): Promise<void> {
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
      ...kept,
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

const SCENE_FILES = 20
const sceneFile = (form: Form, index: number) => path.join(FOLDER, `${form}-${index % SCENE_FILES}.tif`)

async function prepareScenes(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  for (const form of FORM_NAMES) {
    if (existsSync(sceneFile(form, SCENE_FILES - 1))) continue
    for (let index = 0; index < SCENE_FILES; index++) await writeRaster(sceneFile(form, index), SCENE_SIDE, 2, 100 + index, FORMS[form])
  }
}

async function prepare(): Promise<void> {
  await prepareScenes()
  if (existsSync(path.join(FOLDER, 'parcels.json'))) return
  await writeRaster(path.join(FOLDER, 'large.tif'), SIDE, 1, 1)
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

async function series(form: Form): Promise<(number | null)[]> {
  const opened: TiffRaster[] = []
  const scenes = Array.from({ length: SCENES }, (_, index) => ({
    expression: '(b2 - b1) / (b2 + b1)',
    async open() {
      const raster = await openTiff(await openFileSource(sceneFile(form, index)))
      opened.push(raster)
      return raster
    },
  }))
  const points = await zonalSeries(scenes, { geometry: FIELD, statistics: ['mean'] })
  await Promise.all(opened.map((raster) => raster.close()))
  return points.map((point) => ('summary' in point ? (point.summary.values.mean ?? null) : null))
}

/** The second series of each form, when code is compiled and files are in the page cache. */
async function timedSeries(): Promise<Side['time']> {
  const time: Partial<Side['time']> = {}
  for (const form of FORM_NAMES) {
    await series(form)
    time[form] = await timed(() => series(form))
  }
  return time as Side['time']
}

/** Our side, in a process of its own, so that its memory is its own too. */
async function ours(): Promise<void> {
  const { features } = JSON.parse(readFileSync(path.join(FOLDER, 'parcels.json'), 'utf8')) as { features: Feature[] }
  const zones = features.map(({ geometry }) => geometry)
  const many = async (statistics: readonly ZonalStatistic[], percentiles: readonly number[]) => {
    const raster = await openTiff(await openFileSource(path.join(FOLDER, 'large.tif')))
    const { zones: computed } = await zonalStatistics(raster, { zones, statistics, percentiles })
    await raster.close()
    return computed.map(([summary]) => [...statistics.map((name) => summary!.values[name] ?? null), ...summary!.percentiles])
  }
  const time = await timedSeries()
  const basic = await timed(() => many(BASIC, []))
  const all = await timed(() => many(ALL, PERCENTILES))
  const raster = await openTiff(await openFileSource(path.join(FOLDER, 'large.tif')))
  const sliver = sliverOf(raster.info)
  await raster.close()
  const maxRssMb = process.resourceUsage().maxRSS / 1024
  writeFileSync(path.join(FOLDER, 'ours.json'), JSON.stringify({ basic, all, time, maxRssMb, sliver }))
}

interface Side {
  basic: Timing & { result: (number | null)[][] }
  all: Timing & { result: (number | null)[][] }
  time: Record<Form, Timing & { result: (number | null)[] }>
  maxRssMb: number
}
/** Less of a pixel than this is nothing to us. */
type Ours = Side & { sliver: number }
/** What the peer says of each pixel of a parcel: value and share, for parcels of which something differs. */
type Peer = Side & { pixels: Record<string, [value: number, share: number][]> }

const COLUMNS = [...ALL, ...PERCENTILES.map((percentile) => `p${percentile}`)]
const TOLERANCE = 1e-6

/** What exactextract gives as a percentile of integers is cut to an integer. */
const isWhole = (name: string) => name === 'median' || name.startsWith('p')

function differenceOf(name: string, a: number | null, b: number | null): number {
  const [mine, theirs] = [isWhole(name) ? Math.trunc((a ?? 0) + 1e-7) : (a ?? 0), b ?? 0]
  return Math.abs(mine - theirs) / Math.max(1e-12, Math.abs(theirs))
}

/** The peer's own pixels without the slivers among them: what single pixels decide follows from them. */
function withoutSlivers(pixels: Peer['pixels'][string], sliver: number): { slivers: number[]; values: Record<string, number> } {
  const weights = new Map<number, number>()
  for (const [value, share] of pixels) if (share >= sliver) weights.set(value, (weights.get(value) ?? 0) + share)
  const distinct = [...weights.keys()].toSorted((a, b) => a - b)
  const least = Math.min(...weights.values())
  return {
    slivers: pixels.map(([, share]) => share).filter((share) => share < sliver),
    values: {
      min: distinct[0]!,
      max: distinct.at(-1)!,
      variety: distinct.length,
      minority: distinct.find((value) => weights.get(value) === least)!,
    },
  }
}

/** Prints what differs parcel by parcel; false where it is no sliver that explains it. */
function explainDifferences(mine: Ours, peer: Peer): boolean {
  const worst = new Map(COLUMNS.map((name) => [name, 0]))
  let isExplained = true
  mine.all.result.forEach((row, parcel) => {
    const differing = COLUMNS.filter((name, column) => {
      const difference = differenceOf(name, row[column]!, peer.all.result[parcel]![column]!)
      if (difference <= TOLERANCE) worst.set(name, Math.max(worst.get(name)!, difference))
      return difference > TOLERANCE
    })
    if (differing.length === 0) return
    const { slivers, values } = withoutSlivers(peer.pixels[parcel] ?? [], mine.sliver)
    const isTie = slivers.length > 0 && differing.every((name) => values[name] === row[COLUMNS.indexOf(name)])
    isExplained &&= isTie
    const decides = slivers.map((share) => share.toExponential(2)).join(', ')
    const why = isTie ? `without a pixel of which ${decides} lies inside` : 'differ, and no sliver explains it'
    console.log(`parcel ${parcel}: ${differing.join(', ')} ${why}`)
  })
  for (const [name, difference] of worst) console.log(`${name.padEnd(10)} differs by at most ${difference.toExponential(1)}`)
  return isExplained
}

function compare(mine: Ours, peer: Peer): boolean {
  const line = (name: string, a: Timing, b: Timing) =>
    console.log(
      `${name.padEnd(52)}${a.ms.toFixed(0).padStart(8)}${b.ms.toFixed(0).padStart(10)}${a.cpuMs.toFixed(0).padStart(10)}` +
        `${b.cpuMs.toFixed(0).padStart(10)}   ${(b.cpuMs / a.cpuMs).toFixed(2)}× CPU, ${(b.ms / a.ms).toFixed(2)}× wall`,
    )
  console.log(`${''.padEnd(52)}${'ours ms'.padStart(8)}${'peer ms'.padStart(10)}${'ours CPU'.padStart(10)}${'peer CPU'.padStart(10)}`)
  line(`${mine.basic.result.length} parcels, moments`, mine.basic, peer.basic)
  line(`${mine.all.result.length} parcels, moments and percentiles`, mine.all, peer.all)
  for (const form of FORM_NAMES) line(`${SCENES} scenes, one parcel, NDVI (files of the ${form})`, mine.time[form], peer.time[form])
  console.log(`memory: ours ${mine.maxRssMb.toFixed(0)} MB, peer ${peer.maxRssMb.toFixed(0)} MB`)
  const series = FORM_NAMES.flatMap((form) =>
    mine.time[form].result.map(
      (value, index) => Math.abs(value! - peer.time[form].result[index]!) / Math.abs(peer.time[form].result[index]!),
    ),
  )
  console.log(`less than ${mine.sliver.toExponential(1)} of a pixel is nothing to us; to exactextract any part counts`)
  const isExplained = explainDifferences(mine, peer)
  console.log(`series     differs by at most ${Math.max(...series).toExponential(1)}`)
  return isExplained && Math.max(...series) <= TOLERANCE
}

const runOurs = (...args: string[]) =>
  execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', import.meta.filename, ...args], { stdio: 'inherit' })
const runPeer = (...args: string[]) => {
  const peer = [path.join(import.meta.dirname, 'zonal-peer.py'), FOLDER, JSON.stringify(FIELD), String(SCENES), FORM_NAMES.join(',')]
  execFileSync(PYTHON, [...peer, ...args], { stdio: 'inherit', timeout: PEER_LIMIT_MS })
}
const read = (name: string) => JSON.parse(readFileSync(path.join(FOLDER, name), 'utf8'))

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

/** The series alone, in rounds. */
function compareSeries(rounds: number): void {
  const taken = FORM_NAMES.map((form) => ({ form, mine: [] as Timing[], peer: [] as Timing[], worst: 0 }))
  for (let round = 0; round < rounds; round++) {
    runOurs('ours-series')
    runPeer('series')
    const [mine, peer] = [read('ours-series.json') as Side['time'], read('peer-series.json') as Side['time']]
    for (const each of taken) {
      each.mine.push(mine[each.form])
      each.peer.push(peer[each.form])
      for (const [index, value] of mine[each.form].result.entries())
        each.worst = Math.max(each.worst, differenceOf('mean', value, peer[each.form].result[index]!))
    }
  }
  for (const { form, mine, peer, worst } of taken) {
    const [a, b] = [median(mine.map(({ cpuMs }) => cpuMs)), median(peer.map(({ cpuMs }) => cpuMs))]
    console.log(
      `${SCENES} scenes, one parcel, NDVI (files of the ${form}): CPU ours ${a.toFixed(0)} ms, peer ${b.toFixed(0)} ms, ` +
        `${(b / a).toFixed(2)}× (medians of ${rounds}); means differ by at most ${worst.toExponential(1)}`,
    )
    if (worst > TOLERANCE) process.exitCode = 1
  }
}

if (process.argv[2] === 'ours') await ours()
else if (process.argv[2] === 'ours-series') writeFileSync(path.join(FOLDER, 'ours-series.json'), JSON.stringify(await timedSeries()))
else if (process.argv[2] === 'series') {
  await prepareScenes()
  compareSeries(Number(process.argv[3] ?? 3))
} else {
  await prepare()
  runOurs('ours')
  runPeer()
  if (!compare(read('ours.json') as Ours, read('peer.json') as Peer)) process.exitCode = 1
}
