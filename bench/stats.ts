/**
 * Statistics over a polygon against rasterio and numpy, on this machine, on the files of `bench/tiles-data.py`, in each
 * type that people have. Both sides open the file, read the window, mask and describe it.
 */
import { execFileSync } from 'node:child_process'
import os from 'node:os'
import path from 'node:path'

import { openFileSource } from '#raster/source/file.ts'
import { computeStatistics } from '#raster/statistics/index.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { preparePeers } from './lib/peers.ts'

const FOLDER = process.env['BENCH_FOLDER'] ?? path.join(os.tmpdir(), 'groundtrack-bench')
const REPEATS = 9
const AIM = 1.2

const polygon = (ring: number[][]): object => ({ type: 'Polygon', coordinates: [ring] })
const FIELDS = polygon([
  [148.2, -35.3],
  [148.45, -35.28],
  [148.5, -35.5],
  [148.25, -35.55],
  [148.2, -35.3],
])
const HILLS = polygon([
  [147.1, -36.1],
  [147.9, -36.2],
  [148, -36.8],
  [147.2, -36.9],
  [147.1, -36.1],
])
const CASES = [
  { name: 'uint8, 3 bands a pixel', file: 'utm-uint8', geometry: FIELDS },
  { name: 'uint16, 4 bands a pixel', file: 'utm', geometry: FIELDS },
  { name: 'int16', file: 'dem-int16', geometry: HILLS },
  { name: 'float32', file: 'dem', geometry: HILLS },
  { name: 'float64', file: 'dem-float64', geometry: HILLS },
] as const

async function ours(file: string, geometry: object): Promise<{ ms: number; cpuMs: number; count: number; mean: number | null }> {
  const times: number[] = []
  let cpuMs = Infinity
  let last = { count: 0, mean: null as number | null }
  for (let i = 0; i <= REPEATS; i++) {
    const started = performance.now()
    const used = process.cpuUsage()
    const raster = await openTiff(await openFileSource(file))
    const { bands } = await computeStatistics(raster, { geometry, bands: [1], percentiles: [2, 50, 98] })
    await raster.close()
    const { user, system } = process.cpuUsage(used)
    last = { count: bands[0]?.count ?? 0, mean: bands[0]?.mean ?? null }
    // The first round compiles.
    if (i === 0) continue
    times.push(performance.now() - started)
    cpuMs = Math.min(cpuMs, (user + system) / 1000)
  }
  return { ms: times.sort((a, b) => a - b)[Math.floor(REPEATS / 2)] ?? 0, cpuMs, ...last }
}

preparePeers()
console.log(
  `load average ${os
    .loadavg()
    .map((value) => value.toFixed(1))
    .join(' ')}, medians and least CPU of ${REPEATS}`,
)
let isMissed = false
console.log(`${'case'.padEnd(26)}pixels    ours ms  numpy ms   ours CPU  numpy CPU   ratio: time  CPU`)
for (const { name, file, geometry } of CASES) {
  const source = path.join(FOLDER, 'data', `${file}.tif`)
  const mine = await ours(source, geometry)
  const python = path.join(FOLDER, 'venv', 'bin', 'python')
  const peer = JSON.parse(
    execFileSync(python, [path.join(import.meta.dirname, 'stats-peer.py'), source, JSON.stringify(geometry), String(REPEATS)], {
      encoding: 'utf8',
    }),
  ) as { ms: number; cpuMs: number; count: number; mean: number }
  const isBelow = peer.ms / mine.ms < AIM || peer.cpuMs / mine.cpuMs < AIM
  isMissed ||= isBelow
  const numbers = [mine.ms, peer.ms, mine.cpuMs, peer.cpuMs].map((value) => value.toFixed(0).padStart(9)).join(' ')
  console.log(
    `${name.padEnd(26)}${String(mine.count).padEnd(8)}${numbers}   ${(peer.ms / mine.ms).toFixed(2)}×  ` +
      `${(peer.cpuMs / mine.cpuMs).toFixed(2)}×   (counts differ by ${Math.abs(mine.count - peer.count)}, means by ` +
      `${Math.abs((mine.mean ?? 0) - peer.mean).toExponential(1)})${isBelow ? `  below the aim of ${AIM}×` : ''}`,
  )
}
process.exitCode = isMissed ? 1 : 0
