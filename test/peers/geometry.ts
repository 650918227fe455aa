import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { sqKmOf } from '#core/area.ts'
import { requireArea } from '#core/geometry.ts'
import { Problem } from '#core/problem.ts'
import { faultyGeometries, randomGeometries, type Made } from '../support/geometries.ts'

interface Verdict {
  valid: boolean
  reason?: string
  sqKm?: number
  repairedShare?: number
}

const RANDOM = 10_000
const HAND_MADE = 500
/** A share of the area. */
const TOLERANCE = 1e-9
/** Nobody else is answered while one geometry is looked at. */
const MAX_BLOCK_MS = 200

function peer(geometries: readonly Made[]): Verdict[] {
  const input = geometries.map(({ polygons }) => JSON.stringify(polygons)).join('\n')
  const script = new URL('./geometry.py', import.meta.url).pathname
  const { stdout, stderr, status } = spawnSync(process.env['PEER_PYTHON'] ?? 'python3', [script], {
    input,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  assert.equal(status, 0, stderr)
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Verdict)
}

function ours({ polygons }: Made): { sqKm: number } | { reason: string } {
  try {
    return { sqKm: sqKmOf(requireArea({ type: 'MultiPolygon', coordinates: polygons }, 'geometry')) }
  } catch (error) {
    if (error instanceof Problem) return { reason: error.message }
    throw error
  }
}

// Goal: what we take is what shapely calls valid, neither more nor less, and it measures the same.
test('geometries as shapely sees them', async (t) => {
  const geometries = [...randomGeometries(41, RANDOM), ...faultyGeometries(HAND_MADE)]
  const verdicts = peer(geometries)
  assert.equal(verdicts.length, geometries.length)
  let longestMs = 0
  let valid = 0
  for (const [index, geometry] of geometries.entries()) {
    const before = process.threadCpuUsage()
    const result = ours(geometry)
    const { user, system } = process.threadCpuUsage(before)
    longestMs = Math.max(longestMs, (user + system) / 1000)
    const verdict = verdicts[index]!
    const about = () => `${geometry.family}: ${JSON.stringify({ found: result, verdict, polygons: geometry.polygons })}`
    assert.equal('sqKm' in result, verdict.valid, about())
    if (!('sqKm' in result)) continue
    valid++
    assert.ok(Math.abs(result.sqKm / verdict.sqKm! - 1) < TOLERANCE, about())
    assert.ok(Math.abs(verdict.repairedShare! - 1) < TOLERANCE, about())
  }
  t.diagnostic(`${geometries.length} geometries, ${valid} of them valid; the longest took ${longestMs.toFixed(1)} ms of the processor`)
  assert.ok(valid > RANDOM / 4 && valid < geometries.length - RANDOM / 4, `${valid} valid ones tell too little`)
  assert.ok(
    verdicts.slice(RANDOM).every((verdict) => !verdict.valid),
    'every hand-made fault is one',
  )
  assert.ok(longestMs < MAX_BLOCK_MS)
})

// Goal: the largest geometries that are taken hold nobody up, however their edges lie.
test('999 vertices in the worst order', (t) => {
  const zigzag = (step: number) => {
    const teeth = Array.from({ length: 990 }, (_, i): [number, number] => [i % 2 ? 100 : 64, (i % 2 ? 80 : 64) + i * step])
    return { family: 'zigzag', polygons: [[[...teeth, [120, 89], [120, 60], [60, 60], teeth[0]!] as [number, number][]]] }
  }
  for (const step of [2 ** -46, 2 ** -40, 2 ** -20, 2 ** -7]) {
    const before = process.threadCpuUsage()
    const verdict = ours(zigzag(step))
    const { user, system } = process.threadCpuUsage(before)
    t.diagnostic(`step ${step}: ${JSON.stringify(verdict)} in ${(user + system) / 1000} ms`)
    assert.ok((user + system) / 1000 < MAX_BLOCK_MS)
  }
})
