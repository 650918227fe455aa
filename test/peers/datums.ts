// Goal: every pair of datums in use lies to each other as PROJ's best way without grid files has it: as well as that way is known,
// and where it is known to a few centimetres, as exactly.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'

import { crsFromEpsg } from '#raster/crs/registry.ts'
import { crsTransform } from '#raster/crs/transform.ts'

/** Geographic systems by the continent where rasters use them. */
const DATUMS = {
  world: [4326, 9755],
  australia: [4202, 4203, 4283, 7844, 4167, 4272],
  europe: [4258, 4230, 4277, 4314, 4289, 4275, 4171, 4265, 4149, 4150, 4312, 4156, 4313, 4237, 4124, 4619, 4179, 4284],
  asia: [4301, 4612, 6668, 4490, 4610, 4214, 4737, 4162, 4166, 4240, 4239, 4243, 4204, 4611],
  'north america': [4269, 4267, 4617, 6318, 4152, 4140],
  'south america': [4674, 4618, 4291, 4248, 4225, 4208, 4190, 4221],
  africa: [4148, 4222, 4209, 4210, 4201, 4263],
}

interface Pair {
  from: number
  to: number
  accuracy: number
  point: [lon: number, lat: number, lonThere: number, latThere: number]
}

const EXACT_M = 0.1
const EXACTLY_M = 0.05
const METRES_A_DEGREE = 111_320

test('pairs of datums on six continents', () => {
  const script = fileURLToPath(new URL('datums.py', import.meta.url))
  const codes = JSON.stringify(Object.values(DATUMS).flat())
  const text = execFileSync(process.env['PEER_PYTHON'] ?? 'python3', [script, codes], { encoding: 'utf8', maxBuffer: 2 ** 26 })
  const pairs = JSON.parse(text) as Pair[]
  const wrong: string[] = []
  for (const { from, to, accuracy, point } of pairs) {
    const [source, target] = [crsFromEpsg(from), crsFromEpsg(to)]
    const [lon, lat, lonThere, latThere] = point
    const [u, v] = crsTransform(source, target).forward(lon, lat)
    const distance = Math.hypot((u - lonThere) * Math.cos((lat * Math.PI) / 180), v - latThere) * METRES_A_DEGREE
    // Published accuracies are standard deviations.
    const stated = 2 * Math.max(1, accuracy, (source.accuracyM ?? 0) + (target.accuracyM ?? 0))
    if (distance > (accuracy <= EXACT_M ? EXACTLY_M : stated))
      wrong.push(`${source.name} to ${target.name}: ${distance.toFixed(2)} m, PROJ is good to ${accuracy} m`)
  }
  assert.ok(pairs.length > 150, `${pairs.length} pairs`)
  assert.deepEqual(wrong, [])
})
