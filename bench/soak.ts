/**
 * Memory under a long mixed load: tiles of all styles, formats and methods, on the files of `bench/tiles.ts` (run that
 * first). Prints the resident memory by quarters and fails where the last quarter is more than 10% above the second.
 * The first argument is the number of tiles, 20,000 by default. Runs in a process like those of the pool: with `plain` as the
 * second argument in one without their flags and environment, to see what these are for.
 */
import { spawnSync } from 'node:child_process'
import os from 'node:os'
import path from 'node:path'

import { STEADY_ENVIRONMENT, STEADY_FLAGS } from '#raster/pool/worker.ts'
import { createContext } from '#raster/render/context.ts'
import type { Style } from '#raster/render/style.ts'
import { renderCachedTile, renderTerrainTile } from '#raster/render/tile.ts'
import { openFileSource } from '#raster/source/file.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { RESAMPLING } from '#raster/warp/sample.ts'

const FOLDER = process.env['BENCH_FOLDER'] ?? path.join(os.tmpdir(), 'groundtrack-bench')
if (process.argv[3] !== 'plain' && process.env['MALLOC_ARENA_MAX'] === undefined) {
  const args = [...STEADY_FLAGS, import.meta.filename, ...process.argv.slice(2)]
  process.exit(spawnSync(process.execPath, args, { stdio: 'inherit', env: { ...process.env, ...STEADY_ENVIRONMENT } }).status ?? 1)
}

const COUNT = Number(process.argv[2] ?? 20_000)
const MAX_GROWTH = 1.1
const MIB = 1024 * 1024
const SAMPLE_EVERY = Math.max(1, Math.floor(COUNT / 200))
/** Small enough that both caches are full, and turn over, long before the second quarter. */
const context = createContext({ blockCacheBytes: 64 * MIB, tileCacheBytes: 8 * MIB })

const open = async (name: string) => openTiff(await openFileSource(path.join(FOLDER, 'data', `${name}.tif`)))
const [utm, jpeg, dem] = [await open('utm'), await open('jpeg'), await open('dem')]
const STYLES: readonly Style[] = [
  { kind: 'rgb', bands: [3, 2, 1], ranges: [[400, 3000]] },
  { kind: 'expression', expression: '(b4-b1)/(b4+b1)', colormap: 'ndvi', ranges: [[-0.2, 1]] },
  { kind: 'single', band: 2, colormap: 'viridis' },
]
const FORMATS = ['png', 'webp', 'jpeg'] as const

/** The same sequence on every run. */
let state = 12_345
const random = (limit: number): number => (
  (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0),
  Math.floor((state / 2 ** 32) * limit)
)
const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T

async function drawOne(): Promise<void> {
  const format = pick(FORMATS)
  const resampling = pick(RESAMPLING)
  const closer = random(4)
  const around = (z: number, x: number, y: number, reach: number) => ({
    z: z - closer,
    x: (x - reach + random(2 * reach)) >> closer,
    y: (y - reach + random(2 * reach)) >> closer,
  })
  const kind = random(4)
  if (kind === 0) await renderCachedTile(context, jpeg, around(17, 119_182, 80_263, 7), { format, resampling })
  else if (kind === 1) await renderTerrainTile(context, dem, around(12, 3726, 2496, 6), { resampling })
  else await renderCachedTile(context, utm, around(14, 14_942, 9918, 8), { format, resampling, style: pick(STYLES) })
}

const samples: number[] = []
const started = performance.now()
for (let i = 0; i < COUNT; i++) {
  await drawOne()
  if (i % SAMPLE_EVERY === 0) samples.push(process.memoryUsage.rss() / MIB)
}
const quarter = (n: number): number => {
  const part = samples.slice(Math.floor((samples.length * (n - 1)) / 4), Math.floor((samples.length * n) / 4))
  return part.reduce((sum, value) => sum + value, 0) / part.length
}
const quarters = [1, 2, 3, 4].map(quarter)
console.log(
  `${COUNT} tiles in ${((performance.now() - started) / 1000).toFixed(0)} s; resident MB by quarter: ` +
    `${quarters.map((value) => value.toFixed(0)).join(', ')}`,
)
const growth = quarter(4) / quarter(2)
console.log(`last quarter against the second: ${growth.toFixed(3)}`)
process.exitCode = growth > MAX_GROWTH ? 1 : 0
