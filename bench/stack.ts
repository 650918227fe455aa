/**
 * Layers of several files: zonal NDVI over two files against the same pixels in one; cold and repeated tiles in true colour (three
 * files) and NDVI (two files) against TiTiler's STAC reader, on local files and by range requests without latency and with 30 ms; and
 * the memory of rendering processes with 13 bands. Both sides take turns, with files of their own for every round. PEER_PYTHON is a
 * Python with `titiler.application` and `uvicorn`; without it only our side runs. The file server has a process of its own.
 *
 * npm run bench:stack -- --rounds 9 --only tiles
 */
import { fork, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createRasterService } from '#adapters/raster/service.ts'
import type { RasterService } from '#ports/raster.ts'
import type { Style } from '#raster/render/style.ts'
import { openFileSource } from '#raster/source/file.ts'
import { StackRaster } from '#raster/stack/raster.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { createBlockCache } from '#raster/warp/blocks.ts'
import { coverageOf } from '#raster/warp/coverage.ts'
import type { TileAddress } from '#raster/warp/mercator.ts'
import { zonalStatistics } from '#raster/zonal/index.ts'
import { tileAt } from '../test/support/scene.ts'
import { bandFile, reflectance } from '../test/support/stack.ts'
import { childrenPeakMb, median, startCpuClock } from './lib/cpu.ts'
import { itemAt } from './lib/stack-item.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '9' }, side: { type: 'string', default: '3072' }, only: { type: 'string' } },
})
const ROUNDS = Number(values.rounds)
const SIDE = Number(values.side)
const LATENCY_MS = 30
const PYTHON = process.env['PEER_PYTHON'] ?? 'python3'
const LEVELS = { blue: 500, green: 700, red: 900, nir: 3_000 } as const
const NAMES = Object.keys(LEVELS) as (keyof typeof LEVELS)[]
const NDVI = '(nir-red)/(nir+red)'
/** How many times cheaper a cold tile is to be, and a repeated one faster. */
const TARGETS = { cpu: 3, time: 2, repeated: 50, zonal: 1.3, memoryMb: 512 }

const folder = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-bench-stack-'))
const files = path.join(folder, 'files')
mkdirSync(files)
const fileOf = (name: string): string => path.join(files, `${name}.tif`)
const verdict = (isMet: boolean): string => (isMet ? 'met' : 'NOT MET')

/** Noise of a sensor over slow waves, the same on every machine. */
const noisy = (level: number, phase: number) => (x: number, y: number) =>
  reflectance(level, phase)(x, y) + ((Math.imul(x * 7 + y * 13 + phase, 2_654_435_761) >>> 24) % 64)

async function writeFiles(): Promise<void> {
  const common = { width: SIDE, height: SIDE, pixelM: 10, nodata: 0, blockSize: 512 }
  for (const [phase, name] of NAMES.entries()) writeFileSync(fileOf(name), await bandFile({ ...common, value: noisy(LEVELS[name], phase) }))
  const two = [noisy(LEVELS.red, 2), noisy(LEVELS.nir, 3)]
  writeFileSync(fileOf('one'), await bandFile({ ...common, bandCount: 2, value: (x, y, band) => two[band]!(x, y) }))
}

const opened = async (name: string) => openTiff(await openFileSource(fileOf(name)))

async function zonal(): Promise<void> {
  const one = await opened('one')
  const [red, nir] = [await opened('red'), await opened('nir')]
  const stack = new StackRaster({
    bands: [{ name: 'red' }, { name: 'nir' }],
    files: [red, nir],
    key: 'two',
    blocks: createBlockCache(64 * 2 ** 20),
  })
  const [west, south, east, north] = coverageOf(one.info).bounds
  const at = (x: number, y: number) => [west + (east - west) * x, south + (north - south) * y]
  const zone = { type: 'Polygon', coordinates: [[at(0.1, 0.2), at(0.9, 0.1), at(0.8, 0.9), at(0.15, 0.8), at(0.1, 0.2)]] }
  const measure = async (raster: typeof one | StackRaster) => {
    const before = process.cpuUsage()
    const { zones } = await zonalStatistics(raster, { zones: [zone], expression: '(b2-b1)/(b2+b1)' })
    const { user, system } = process.cpuUsage(before)
    return { mean: zones[0]![0]!.values.mean, cpuMs: (user + system) / 1000 }
  }
  await Promise.all([measure(one), measure(stack)]) // Compiles the loops.
  const rounds: { one: number; two: number }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const [single, several] = [await measure(one), await measure(stack)]
    if (single.mean !== several.mean) throw new Error(`${several.mean} is not ${single.mean}`)
    rounds.push({ one: single.cpuMs, two: several.cpuMs })
  }
  const [ofOne, ofTwo] = [median(rounds.map(({ one }) => one)), median(rounds.map(({ two }) => two))]
  const ratio = median(rounds.map(({ one, two }) => two / one))
  console.log(
    `zonal NDVI, ${SIDE}²: one file ${ofOne.toFixed(0)} ms CPU, two files ${ofTwo.toFixed(0)} ms, ratio ${ratio.toFixed(2)}: ` +
      `${verdict(ratio <= TARGETS.zonal)} (at most ${TARGETS.zonal})`,
  )
}

interface StyledLayer {
  name: string
  style: Style
  query: string
}
const STYLES: readonly StyledLayer[] = [
  {
    name: 'true colour',
    style: { kind: 'rgb', bands: [3, 2, 1], ranges: [[0, 3_000]] },
    query: 'assets=red&assets=green&assets=blue&rescale=0,3000',
  },
  {
    name: 'NDVI',
    style: {
      kind: 'expression',
      expression: NDVI,
      names: Object.fromEntries(NAMES.map((name, index) => [name, index + 1])),
      ranges: [[-1, 1]],
      colormap: 'viridis',
    },
    query: `assets=nir&assets=red&expression=${encodeURIComponent('(b1-b2)/(b1+b2)')}&rescale=-1,1&colormap_name=viridis`,
  },
]

interface Peer {
  port: number
  pid: number
  stop(): void
}

async function startPeer(): Promise<Peer | null> {
  if (spawnSync(PYTHON, ['-c', 'import titiler.application, uvicorn']).status !== 0) {
    console.log('PEER_PYTHON has no titiler.application: tiles are measured alone')
    return null
  }
  const port = 8_000 + (process.pid % 1_000)
  const child = spawn(PYTHON, ['-m', 'uvicorn', 'titiler.application.main:app', '--port', String(port), '--log-level', 'error'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, GDAL_DISABLE_READDIR_ON_OPEN: 'EMPTY_DIR', GDAL_CACHEMAX: '200', VSI_CACHE: 'TRUE', GDAL_HTTP_MULTIPLEX: 'YES' },
  })
  for (let tries = 0; tries < 120; tries++) {
    if (await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => null)) break
    await sleep(500)
  }
  return { port, pid: child.pid!, stop: () => void child.kill() }
}

/** Where the files of one round are; every prefix is cold. */
interface Place {
  name: string
  host: string
  pids: readonly number[]
  source(prefix: string, name: string): { url: string } | { path: string }
  item(prefix: string): string
  requests(): Promise<number | null>
  stop(): void
}

async function byRange(latencyMs: number): Promise<Place> {
  const child = fork(path.join(import.meta.dirname, 'lib', 'stack-server.ts'), [files, String(latencyMs)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const port = await new Promise<string>((resolve) => child.stdout!.once('data', (line: Buffer) => resolve(line.toString().trim())))
  const host = `127.0.0.1:${port}`
  return {
    name: `by range, ${latencyMs} ms`,
    host,
    pids: [child.pid!],
    source: (prefix, name) => ({ url: `http://${host}/${prefix}/${name}.tif` }),
    item: (prefix) => `http://${host}/${prefix}/item.json`,
    requests: async () => Number(await (await fetch(`http://${host}/requests`)).text()),
    stop: () => void child.kill(),
  }
}

/** Links are cold for both sides, because both cache by path. */
function onDisk(): Place {
  const at = (prefix: string): string => {
    const place = path.join(folder, prefix)
    mkdirSync(place, { recursive: true })
    return place
  }
  const source = (prefix: string, name: string) => {
    const link = path.join(at(prefix), `${name}.tif`)
    symlinkSync(fileOf(name), link)
    return { path: link }
  }
  return {
    name: 'local files',
    host: '',
    pids: [],
    source,
    item: (prefix) => {
      const file = path.join(at(prefix), 'item.json')
      const item = itemAt((name) => source(prefix, name.replace('.tif', '')).path, NAMES.map((name) => `${name}.tif`)) // prettier-ignore
      writeFileSync(file, JSON.stringify(item))
      return file
    },
    requests: async () => null,
    stop: () => {},
  }
}

const serviceFor = (host: string, processes: number, deadlineFactor = 1): RasterService =>
  createRasterService({
    tileCache: null,
    deadlineFactor,
    clock: { now: () => new Date() },
    storage: { kind: 'files', owns: () => false } as never,
    files: { isSigned: () => false } as never,
    hosts: [],
    egressAllow: [host],
    workDir: folder,
    compression: 'zstd',
    processes,
  })

interface Measured {
  ms: number
  cpuMs: number
  requests: number | null
}

async function tiles(place: Place, peer: Peer | null): Promise<void> {
  const raster = serviceFor(place.host, 1)
  const { bounds, maxZoom } = coverageOf((await opened('red')).info)
  const tile = tileAt((bounds[0] + bounds[2]) / 2, (bounds[1] + bounds[3]) / 2, maxZoom - 1)
  const others = [...place.pids, ...(peer ? [peer.pid] : [])]
  const clock = startCpuClock(PYTHON)
  const cpu = { ours: () => clock.ms(process.pid, others), theirs: () => clock.ms(peer!.pid) }
  const timed = async (side: keyof typeof cpu, work: () => Promise<unknown>): Promise<Measured> => {
    const asked = await place.requests()
    const [used, started] = [await cpu[side](), performance.now()]
    await work()
    const [ms, cpuMs] = [performance.now() - started, (await cpu[side]()) - used]
    return { ms, cpuMs, requests: asked === null ? null : (await place.requests())! - asked }
  }
  const ours = (prefix: string, { style }: StyledLayer) => {
    const stack = NAMES.map((name) => ({ name, source: place.source(prefix, name) }))
    return () => raster.tile({ stack }, { tile, format: 'png', style })
  }
  const theirs = (prefix: string, { query }: StyledLayer) => {
    const item = encodeURIComponent(place.item(prefix))
    return async () => {
      const response = await fetch(
        `http://127.0.0.1:${peer!.port}/stac/tiles/WebMercatorQuad/${tile.z}/${tile.x}/${tile.y}.png?url=${item}&${query}`,
      )
      if (!response.ok) throw new Error(`TiTiler: ${response.status} ${await response.text()}`)
      await response.arrayBuffer()
    }
  }
  for (const [number, style] of STYLES.entries()) {
    const prefixOf = (round: number | string) => `${place.name.replaceAll(/\W/g, '')}-${number}-${round}`
    for (let warm = 0; warm < 3; warm++) {
      await ours(prefixOf(`warm-${warm}`), style)()
      if (peer) await theirs(prefixOf(`peer-warm-${warm}`), style)()
    }
    const rounds: Record<'cold' | 'again' | 'theirCold' | 'theirAgain', Measured[]> = { cold: [], again: [], theirCold: [], theirAgain: [] }
    for (let round = 0; round < ROUNDS; round++) {
      const our = ours(prefixOf(round), style)
      rounds.cold.push(await timed('ours', our))
      rounds.again.push(await timed('ours', our))
      if (!peer) continue
      const their = theirs(prefixOf(`peer-${round}`), style)
      rounds.theirCold.push(await timed('theirs', their))
      rounds.theirAgain.push(await timed('theirs', their))
    }
    report(`${style.name}, ${place.name}`, rounds, peer !== null)
  }
  await raster.close()
  clock.stop()
  place.stop()
}

function report(name: string, rounds: Record<'cold' | 'again' | 'theirCold' | 'theirAgain', Measured[]>, hasPeer: boolean): void {
  const of = (side: keyof typeof rounds, what: 'ms' | 'cpuMs') => median(rounds[side].map((round) => round[what]))
  const count = (side: keyof typeof rounds) =>
    rounds[side][0]?.requests == null ? '' : `, ${median(rounds[side].map(({ requests }) => requests!))} requests`
  const shown = (side: keyof typeof rounds) => `${of(side, 'ms').toFixed(1)} ms, ${of(side, 'cpuMs').toFixed(1)} ms CPU${count(side)}`
  console.log(`${name}, cold: ${shown('cold')}; repeated ${of('again', 'ms').toFixed(2)} ms`)
  if (!hasPeer) return
  const byCpu = of('theirCold', 'cpuMs') / of('cold', 'cpuMs')
  const byTime = of('theirCold', 'ms') / of('cold', 'ms')
  const repeated = of('theirAgain', 'ms') / of('again', 'ms')
  const isMet = byCpu >= TARGETS.cpu && byTime >= TARGETS.time && repeated >= TARGETS.repeated
  console.log(
    `  TiTiler ${shown('theirCold')}; repeated ${of('theirAgain', 'ms').toFixed(1)} ms: ${byCpu.toFixed(1)}× by CPU, ` +
      `${byTime.toFixed(1)}× by time, repeated ${repeated.toFixed(0)}×: ${verdict(isMet)}`,
  )
}

/** Sentinel-2: four bands of 10 m, six of 20 m and three of 60 m, in blocks of 1,024 pixels as Earth Search has them. */
const SENTINEL = [
  ...['b02', 'b03', 'b04', 'b08'].map((name) => ({ name, pixelM: 10 })),
  ...['b05', 'b06', 'b07', 'b8a', 'b11', 'b12'].map((name) => ({ name, pixelM: 20 })),
  ...['b01', 'b09', 'b10'].map((name) => ({ name, pixelM: 60 })),
]
const CONCURRENT = 40
/** Deadlines are not measured here. */
const PATIENCE = 20

async function memory(): Promise<void> {
  for (const [phase, { name, pixelM }] of SENTINEL.entries()) {
    const side = Math.round((SIDE * 10) / pixelM)
    writeFileSync(
      fileOf(name),
      await bandFile({ width: side, height: side, pixelM, nodata: 0, blockSize: 1_024, value: noisy(1_000, phase) }),
    )
  }
  const place = await byRange(0)
  const raster = serviceFor(place.host, 2, PATIENCE)
  const names = Object.fromEntries(SENTINEL.map(({ name }, index) => [name, index + 1]))
  const expression = `(${SENTINEL.map(({ name }) => name).join('+')})/13`
  const style: Style = { kind: 'expression', expression, names, ranges: [[0, 3_000]], colormap: 'viridis' }
  const { bounds, maxZoom } = coverageOf((await opened('b02')).info)
  const stackOf = (prefix: string) => ({ stack: SENTINEL.map(({ name }) => ({ name, source: place.source(prefix, name) })) })
  const addresses: TileAddress[] = []
  for (let zoom = maxZoom + 1; zoom >= maxZoom - 3; zoom--)
    for (const x of [0.3, 0.7])
      for (const y of [0.3, 0.7])
        addresses.push(tileAt(bounds[0] + (bounds[2] - bounds[0]) * x, bounds[1] + (bounds[3] - bounds[1]) * y, zoom))
  const requests = ['a', 'b'].flatMap((prefix) =>
    addresses.flatMap((tile) => (['nearest', 'cubic'] as const).map((resampling) => ({ prefix, tile, resampling }))),
  )
  let failed = 0
  for (let first = 0; first < requests.length; first += CONCURRENT)
    await Promise.all(
      requests.slice(first, first + CONCURRENT).map(({ prefix, tile, resampling }) =>
        raster.tile(stackOf(prefix), { tile, format: 'png', size: 512, style, resampling }).catch((error: unknown) => {
          failed++
          console.log(`  ${tile.z}/${tile.x}/${tile.y} ${resampling}: ${(error as Error).message}`)
        }),
      ),
    )
  const peaks = childrenPeakMb(process.pid, place.pids)
  const killed = raster.metrics().pools.images.outOfMemory
  const isMet = failed === 0 && killed === 0 && Math.max(...peaks) <= TARGETS.memoryMb
  console.log(
    `13 bands, ${requests.length} tiles of 512 pixels, ${CONCURRENT} at a time: ` +
      `at most ${peaks.map((mb) => mb.toFixed(0)).join(' and ')} MB ` +
      `per process, ${failed} failed, ${killed} processes replaced: ${verdict(isMet)} (at most ${TARGETS.memoryMb} MB)`,
  )
  await raster.close()
  place.stop()
}

const isWanted = (part: string): boolean => values.only === undefined || values.only === part
try {
  if (values.only !== 'memory') await writeFiles()
  if (isWanted('zonal')) await zonal()
  if (isWanted('tiles')) {
    const peer = await startPeer()
    try {
      for (const place of [onDisk(), await byRange(0), await byRange(LATENCY_MS)]) await tiles(place, peer)
    } finally {
      peer?.stop()
    }
  }
  if (isWanted('memory')) await memory()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exit(0)
