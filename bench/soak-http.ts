/**
 * Memory of the drawing processes under a long load of tiles from many files behind addresses, through the pool of the service.
 *
 * 200 addresses on a file server of this machine, each with an entity tag of its own, show the files of `bench/tiles.ts` (run that
 * first); views of 8 × 8 tiles of one file after another are drawn in all formats, and no tile is asked for twice. Prints the
 * resident memory of a drawing process by quarters and how many were replaced; fails where the last quarter is more than 10% above
 * the second, where five or more were replaced, or where one was killed. Arguments: tiles (100,000), files (200), processes (2).
 */
import { readFileSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createRasterService } from '#adapters/raster/service.ts'
import { openFileStore } from '#adapters/storage/files.ts'
import { systemClock } from '#core/clock.ts'
import type { Style } from '#raster/render/style.ts'
import { serveFiles } from './lib/file-server.ts'
import { dataFile } from './lib/peers.ts'
import { fixedSecret } from '#adapters/storage/signature.ts'

const [COUNT = 100_000, FILES = 200, PROCESSES = 2] = process.argv.slice(2).map(Number)
const MAX_GROWTH = 1.1
const RECYCLED_BELOW = 5
const MIB = 1024 * 1024
const PAGE_BYTES = 4096
/** Tiles of a view, along a side; so many people look at the same time. */
const VIEW_SIDE = 8
const USERS = 4
const SAMPLE_EVERY = Math.max(1, Math.floor(COUNT / 400))
const TELL_EVERY = Math.max(1, Math.floor(COUNT / 20))
const FORMATS = ['png', 'webp', 'jpeg'] as const

interface Kind {
  file: string
  z: number
  middle: { x: number; y: number }
  reach: number
  /** `brightest` is another number for each view, so that no cache of tiles helps. */
  styles: readonly ((brightest: number) => Style)[]
}

const KINDS: readonly Kind[] = [
  {
    file: 'utm',
    z: 14,
    middle: { x: 14_942, y: 9918 },
    reach: 7,
    styles: [
      (brightest) => ({ kind: 'rgb', bands: [3, 2, 1], ranges: [[400, 2_000 + brightest]] }),
      (brightest) => ({ kind: 'expression', expression: '(b4-b1)/(b4+b1)', colormap: 'ndvi', ranges: [[-0.2, 0.5 + brightest / 1e6]] }),
    ],
  },
  {
    file: 'jpeg',
    z: 17,
    middle: { x: 119_182, y: 80_263 },
    reach: 7,
    styles: [(brightest) => ({ kind: 'rgb', bands: [1, 2, 3], ranges: [[0, 200 + brightest / 1e6]] })],
  },
  {
    file: 'dem',
    z: 12,
    middle: { x: 3726, y: 2496 },
    reach: 5,
    styles: [(brightest) => ({ kind: 'single', band: 1, colormap: 'terrain', ranges: [[0, 1_000 + brightest]] })],
  },
]
const kindOf = (file: number): Kind => KINDS[file % KINDS.length]!

/** The same sequence on every run. */
let state = 12_345
const random = (limit: number): number => (
  (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0),
  Math.floor((state / 2 ** 32) * limit)
)

/** Of this process's children. */
function childrenMb(): number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  return children.flatMap((pid) => {
    try {
      return [(Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES) / MIB]
    } catch {
      return [] // It has just ended.
    }
  })
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

const folder = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-soak-'))
const server = await serveFiles((address) => {
  const file = Number(/^\/(\d+)\.tif$/.exec(address)?.[1] ?? Number.NaN)
  return file < FILES ? dataFile(kindOf(file).file) : undefined
})
const raster = createRasterService({
  tileCache: null,
  clock: systemClock,
  storage: await openFileStore({
    root: path.join(folder, 'objects'),
    publicUrl: () => 'http://127.0.0.1:9',
    secrets: fixedSecret(Buffer.alloc(32, 1)),
    clock: systemClock,
  }),
  hosts: [],
  egressAllow: [server.host],
  files: { isSigned: () => false, sign: () => Promise.reject(new Error('Nothing is signed here')) },
  workDir: folder,
  compression: 'zstd',
  processes: PROCESSES,
})

const samples: number[][] = []
let [asked, view] = [0, 0]

/** A long run says how it goes. */
function tell(): void {
  const { recycled, started } = raster.metrics().pools.images
  const now = (samples.at(-1) ?? []).map((mb) => mb.toFixed(0)).join(' and ')
  console.log(`  ${asked} tiles asked for, ${(process.uptime() / 60).toFixed(1)} min: ${now} MB, replaced ${recycled}, started ${started}`)
}

async function browse(): Promise<void> {
  while (asked < COUNT) {
    const file = random(FILES)
    const { z, middle, reach, styles } = kindOf(file)
    const closer = random(3)
    const side = 2 * reach - VIEW_SIDE
    const [left, top] = [middle.x - reach + random(side), middle.y - reach + random(side)]
    const style = styles[random(styles.length)]!(++view % 1_000)
    const format = FORMATS[random(FORMATS.length)]!
    for (let i = 0; i < VIEW_SIDE ** 2 && asked < COUNT; i++) {
      const tile = { z: z - closer, x: (left >> closer) + (i % VIEW_SIDE), y: (top >> closer) + Math.floor(i / VIEW_SIDE) }
      if (asked % SAMPLE_EVERY === 0) samples.push(childrenMb())
      if (asked % TELL_EVERY === 0) tell()
      asked += 1
      await raster.tile({ url: `http://${server.host}/${file}.tif` }, { tile, format, style })
    }
  }
}

const began = performance.now()
try {
  await Promise.all(Array.from({ length: USERS }, browse))
  const seconds = (performance.now() - began) / 1000
  const metrics = raster.metrics().pools.images
  const quarters = [0, 1, 2, 3].map((n) =>
    mean(samples.slice(Math.floor((samples.length * n) / 4), Math.floor((samples.length * (n + 1)) / 4)).flat()),
  )
  console.log(
    `${COUNT} tiles of ${FILES} addresses in ${seconds.toFixed(0)} s, ${metrics.completed} tasks; ` +
      `resident MB of a drawing process by quarter: ${quarters.map((value) => value.toFixed(0)).join(', ')}; ` +
      `the most ${Math.max(...samples.flat()).toFixed(0)}`,
  )
  const growth = quarters[3]! / quarters[1]!
  const [recycled, started] = [metrics.recycled, metrics.started]
  const killed = metrics.outOfMemory + metrics.crashed + metrics.timedOut
  console.log(
    `last quarter against the second: ${growth.toFixed(3)} (at most ${MAX_GROWTH}); replaced ${recycled} times ` +
      `(fewer than ${RECYCLED_BELOW}), started ${started}, killed ${killed}`,
  )
  process.exitCode = growth > MAX_GROWTH || recycled >= RECYCLED_BELOW || killed > 0 ? 1 : 0
} finally {
  await raster.close()
  await server.close()
  rmSync(folder, { recursive: true, force: true })
}
