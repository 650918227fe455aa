/**
 * Tiles against TiTiler, on this machine, in one run: the same files, one process each, the same client.
 *
 * Needs python3 and its package index, for a virtual environment in the temporary folder. Prints tiles a second, p50 and
 * p99 of the answer, CPU per tile of the serving process, and the ratio of CPU and of speed. First with the same encoder
 * effort on both sides, then at each side's defaults. Words after the command choose rows: `tiles.ts session webp defaults`.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { get, request } from 'node:http'
import path from 'node:path'
import { mercatorMiddle, middleOf, tilesOf, WORKLOADS, type Tile, type Workload } from './lib/cases.ts'
import { dataFile, preparePeers, startTitiler } from './lib/peers.ts'

const PORTS = { ours: 18_731, peer: 18_732 }
const CONCURRENCY = 2
const WARMUP_COUNT = 64
const START_DEADLINE_MS = 60_000
/** Clock ticks of /proc/<pid>/stat, the same on every Linux we know. */
const TICKS_PER_SECOND = 100

const FORMATS = ['png', 'webp', 'jpeg'] as const
type Format = (typeof FORMATS)[number]
/** What the peer's encoders do by default, asked of ours. */
const EQUAL_EFFORT: Record<Format, object> = { png: { effort: 6 }, webp: { effort: 4, quality: 75 }, jpeg: { quality: 85 } }

/** Of a kind of words, those given on the command line, or all. */
function chosen<W extends string>(words: readonly W[]): readonly W[] {
  const given = words.filter((word) => process.argv.slice(2).includes(word))
  return given.length > 0 ? given : words
}

interface Case {
  name: string
  file: string
  /** Zoom at which a tile's pixels are about the file's. */
  z: number
  /** The middle of the file, as a tile of that zoom. */
  middle: { x: number; y: number }
  /** Tiles from the middle that still lie inside. */
  reach: number
  ours: object
  peer: string
}

const CASES: readonly Case[] = [
  {
    name: 'UTM uint16 → RGB',
    file: 'utm',
    z: 14,
    middle: middleOf(148.33, -35.43, 14),
    reach: 6,
    ours: { style: { kind: 'rgb', bands: [3, 2, 1], ranges: [[400, 3000]] } },
    peer: 'bidx=3&bidx=2&bidx=1&rescale=400,3000',
  },
  {
    name: 'UTM uint16 → NDVI',
    file: 'utm',
    z: 14,
    middle: middleOf(148.33, -35.43, 14),
    reach: 6,
    ours: { style: { kind: 'expression', expression: '(b4-b1)/(b4+b1)', colormap: 'rdylgn', ranges: [[-0.2, 1]] } },
    peer: `expression=${encodeURIComponent('(b4-b1)/(b4+b1)')}&rescale=-0.2,1&colormap_name=rdylgn`,
  },
  {
    name: 'JPEG 3857 → RGB',
    file: 'jpeg',
    z: 17,
    middle: mercatorMiddle(16_402_446, -4_502_446, 17),
    reach: 6,
    ours: {},
    peer: 'bidx=1&bidx=2&bidx=3',
  },
  {
    name: 'float DEM → colours',
    file: 'dem',
    z: 12,
    middle: middleOf(147.55, -36.5, 12),
    reach: 5,
    ours: { style: { kind: 'single', band: 1, colormap: 'terrain', ranges: [[0, 1800]] } },
    peer: 'rescale=0,1800&colormap_name=terrain',
  },
]

interface Server {
  name: 'ours' | 'peer'
  process: ChildProcess
  url: (tile: Tile, item: Case, format: Format, isEqual: boolean) => string
}

function startServers(): Server[] {
  const ours = spawn(process.execPath, [path.join(import.meta.dirname, 'tile-server.ts'), String(PORTS.ours)], { stdio: 'ignore' })
  const peer = startTitiler(PORTS.peer, null)
  return [
    {
      name: 'ours',
      process: ours,
      url: ({ z, x, y }, item, format, isEqual) => {
        const options = { ...item.ours, format, ...(isEqual ? EQUAL_EFFORT[format] : {}) }
        const encoded = encodeURIComponent(JSON.stringify(options))
        return `http://127.0.0.1:${PORTS.ours}/tile?path=${dataFile(item.file)}&z=${z}&x=${x}&y=${y}&options=${encoded}`
      },
    },
    {
      name: 'peer',
      process: peer,
      url: ({ z, x, y }, item, format) =>
        `http://127.0.0.1:${PORTS.peer}/cog/tiles/WebMercatorQuad/${z}/${x}/${y}.${format}?url=${dataFile(item.file)}&tilesize=256&` +
        `${item.peer}`,
    },
  ]
}

/** One answer, read to its end; its size in bytes. */
function fetchTile(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => (bytes += chunk.length))
      response.on('end', () => (response.statusCode === 200 ? resolve(bytes) : reject(new Error(`${response.statusCode} ${url}`))))
      response.on('error', reject)
    }).on('error', reject)
  })
}

const clearOurs = (): Promise<void> =>
  new Promise(
    (resolve, reject) =>
      void request({ port: PORTS.ours, host: '127.0.0.1', method: 'POST', path: '/clear' }, (response) =>
        response.resume().on('end', resolve),
      )
        .on('error', reject)
        .end(),
  )

interface Measured {
  perSecond: number
  p50: number
  p99: number
  cpuMs: number
  kilobytes: number
}

async function measure(server: Server, urls: readonly string[]): Promise<Measured> {
  const times: number[] = []
  const before = cpuMs(server.process)
  const started = performance.now()
  let next = 0
  let bytes = 0
  const client = async (): Promise<void> => {
    for (let i = next++; i < urls.length; i = next++) {
      const asked = performance.now()
      const size = await fetchTile(urls[i] ?? '')
      bytes += size
      times.push(performance.now() - asked)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, client))
  const seconds = (performance.now() - started) / 1000
  times.sort((a, b) => a - b)
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
  return {
    perSecond: urls.length / seconds,
    p50: at(0.5),
    p99: at(0.99),
    cpuMs: (cpuMs(server.process) - before) / urls.length,
    kilobytes: bytes / urls.length / 1024,
  }
}

/** User and system time of a process so far. */
function cpuMs({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND
}

async function waitFor(url: string): Promise<void> {
  const deadline = performance.now() + START_DEADLINE_MS
  for (;;) {
    try {
      await fetchTile(url)
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}

const show = (value: number): string => value.toFixed(value < 10 ? 1 : 0).padStart(7)

async function main(): Promise<void> {
  preparePeers()
  const servers = startServers()
  try {
    for (const item of CASES) for (const server of servers) await waitFor(server.url({ z: item.z, ...item.middle }, item, 'png', false))
    for (const effort of chosen(['equal', 'defaults'])) {
      const isEqual = effort === 'equal'
      console.log(
        `\n${isEqual ? 'Equal encoder effort (PNG level 6, WebP method 4 quality 75, JPEG 85)' : 'Each side at its defaults'}; ` +
          'ours, TiTiler',
      )
      console.log(
        `${'case'.padEnd(22)}${'format'.padEnd(7)}${'workload'.padEnd(11)}    tiles/s         p50 ms          p99 ms     ` +
          '   CPU ms a tile     KB     ratio: speed   CPU',
      )
      for (const item of CASES) {
        for (const format of chosen(FORMATS))
          for (const workload of chosen(WORKLOADS)) await compare(servers, { item, format, workload, isEqual })
      }
    }
  } finally {
    for (const server of servers) server.process.kill()
  }
}

async function compare(
  servers: readonly Server[],
  { item, format, workload, isEqual }: { item: Case; format: Format; workload: Workload; isEqual: boolean },
): Promise<void> {
  const tiles = tilesOf(item, workload)
  const results: Measured[] = []
  for (const server of servers) {
    const urls = tiles.map((tile) => server.url(tile, item, format, isEqual))
    // Both have run this path before, ours long enough to be compiled as in a service; then our caches are emptied. The peer opens
    // its file anew for every tile.
    for (const url of urls.slice(0, WARMUP_COUNT)) await fetchTile(url)
    if (server.name === 'ours') await clearOurs()
    results.push(await measure(server, urls))
  }
  const [ours, peer] = results
  if (!ours || !peer) throw new Error('a side is missing')
  const pair = (key: keyof Measured): string => `${show(ours[key])} ${show(peer[key])}`
  const pairs = (['perSecond', 'p50', 'p99', 'cpuMs', 'kilobytes'] as const).map(pair)
  console.log(
    `${item.name.padEnd(22)}${format.padEnd(7)}${workload.padEnd(11)}${pairs.join(' ')}  ` +
      `${show(ours.perSecond / peer.perSecond)}× ${show(peer.cpuMs / Math.max(0.01, ours.cpuMs))}×`,
  )
}

await main()
