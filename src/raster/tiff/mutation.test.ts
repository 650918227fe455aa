/**
 * Goal: golden files with flipped, overwritten, removed and inserted bytes are read or refused with a
 * RasterError, never anything else. A failure prints the seed and the mutant; TEST_SEED runs it
 * again and RASTER_FUZZ_COUNT asks for more.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { memorySource } from '#raster/source/memory.ts'
import { readEverything } from '#raster/testing/exhaust.ts'
import { campaign, testSeed } from '../../../test/support/campaign.ts'
import { cpuTimer } from '../../../test/support/cpu.ts'

const GOLDEN = new URL('../../../test/golden/raster/', import.meta.url)
const DEFAULT_COUNT = campaign({ short: 500, long: 4000 })
const MOST_MS = 3000
const MOST_RSS_BYTES = 512 * 1024 * 1024

/** mulberry32: small, seeded, good enough to choose bytes. */
function randomizer(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

const EXTREMES = [0, 1, 0x7f, 0x80, 0xff]

function mutate(original: Uint8Array, random: (below: number) => number): Uint8Array {
  let bytes = Uint8Array.from(original)
  // Most mutations hit the directories, which decide more than pixels do.
  const place = (): number => random(random(3) === 0 ? bytes.length : Math.min(bytes.length, 600))
  const changes = 1 + random(6)
  for (let i = 0; i < changes && bytes.length > 8; i++) {
    const at = place()
    const kind = random(10)
    if (kind < 4) bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8))
    else if (kind < 8) bytes[at] = random(2) === 0 ? random(256) : (EXTREMES[random(EXTREMES.length)] ?? 0)
    else if (kind === 8) bytes = Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(at + 1 + random(8))])
    else bytes.fill(EXTREMES[random(EXTREMES.length)] ?? 0, at, at + 1 + random(16))
  }
  return bytes
}

test('mutated golden files', async (t) => {
  const seed = testSeed
  const count = Number(process.env['RASTER_FUZZ_COUNT'] ?? DEFAULT_COUNT)
  t.diagnostic(`seed ${seed}, ${count} mutants`)
  const random = randomizer(seed)
  const files = readdirSync(GOLDEN)
    .filter((name) => name.endsWith('.tif'))
    .toSorted()
  const originals = new Map(files.map((name) => [name, readFileSync(new URL(name, GOLDEN))]))
  const outcomes = new Map<string, number>()
  for (let i = 0; i < count; i++) {
    const name = files[random(files.length)] ?? ''
    const mutant = mutate(originals.get(name) ?? new Uint8Array(0), random)
    const cpuMs = cpuTimer()
    const result = await readEverything(memorySource(mutant)).catch((error: unknown) => {
      throw new Error(`seed ${seed}, mutant ${i} of ${name}: ${Buffer.from(mutant).toString('base64')}`, { cause: error })
    })
    const ms = cpuMs()
    assert.ok(ms < MOST_MS, `seed ${seed}, mutant ${i} of ${name} took ${ms} ms`)
    outcomes.set(result, (outcomes.get(result) ?? 0) + 1)
    // Memory in hand never makes the loop wait, and what Node frees between turns would pile up.
    await turn()
  }
  const rss = process.memoryUsage().rss
  t.diagnostic(`${JSON.stringify(Object.fromEntries(outcomes))}, ${Math.round(rss / 2 ** 20)} MB`)
  assert.ok(rss < MOST_RSS_BYTES, `the process grew to ${rss} bytes`)
})
