// Goal: a scene's metadata match its pixels, and the same place has the same ground at every date, edge and resolution.
import assert from 'node:assert/strict'
import test from 'node:test'
import { memorySource } from '#raster/source/memory.ts'
import { openTiff } from '#raster/tiff/open.ts'
import type { SampleArray } from '#raster/types.ts'
import { memorySink } from '#raster/write/sink.ts'
import { cropOf, describeScene, renderSamples, renderScene, SENSOR_IDS, type SceneDescription, type SceneRequest } from './index.ts'
import { gridOfScene } from './describe.ts'
import { polygonsOf } from './footprint.ts'

const SUMMER = '2025-06-12T10:40:00Z'
const PLAIN = { longitude: 2.3, latitude: 48.2 }

interface Rendered {
  scene: SceneDescription
  bytes: Uint8Array
  band(name: string): SampleArray
}

async function render(request: SceneRequest): Promise<Rendered> {
  const scene = describeScene(request)
  const sink = memorySink()
  await renderScene(scene, sink)
  const bytes = sink.bytes()
  const raster = await openTiff(memorySource(bytes))
  assert.equal(raster.info.crs?.epsg, scene.epsg)
  assert.deepEqual(raster.info.transform, scene.transform)
  assert.deepEqual(
    raster.info.bands.map(({ name }) => name),
    scene.bands.map(({ name }) => name),
  )
  const { data } = await raster.readWindow(0, { x: 0, y: 0, width: scene.width, height: scene.height })
  return { scene, bytes, band: (name) => data[scene.bands.findIndex((band) => band.name === name)] as SampleArray }
}

test('the same request gives the same bytes, another date other bytes', async () => {
  const request = { sensor: 'sandbox-hr', ...PLAIN, datetime: SUMMER, sizePx: 96 } as const
  const [a, b] = [await render(request), await render(request)]
  assert.deepEqual(describeScene(request), a.scene)
  assert.ok(Buffer.from(a.bytes).equals(b.bytes))
  const other = await render({ ...request, datetime: '2025-06-13T10:40:00Z' })
  assert.ok(!Buffer.from(a.bytes).equals(other.bytes))
})

test('valid pixels are the pixels of the footprint', async () => {
  for (const place of [PLAIN, { longitude: 179.999, latitude: -17 }, { longitude: -70, latitude: -33 }]) {
    const { scene, band } = await render({ sensor: 'sandbox-open', ...place, datetime: SUMMER, sizePx: 120 })
    const { crs, transform } = gridOfScene(scene)
    const rings = polygonsOf(scene.footprint).map(([ring]) =>
      (ring ?? []).map(([x, y]) => {
        const [east, north] = crs.forward(x, y)
        return [(east - transform[0]) / transform[1], (north - transform[3]) / transform[5]] as const
      }),
    )
    const red = band('red')
    let wrong = 0
    for (let y = 0; y < scene.height; y++)
      for (let x = 0; x < scene.width; x++) {
        const isInside = rings.some((ring) => contains(ring, x + 0.5, y + 0.5))
        if (isInside !== red[y * scene.width + x]! > 0) wrong++
      }
    assert.equal(wrong, 0, `${place.longitude} ${place.latitude}`)
  }
})

function contains(ring: readonly (readonly [number, number])[], x: number, y: number): boolean {
  let inside = false
  for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) {
    const [ax, ay] = ring[i]!
    const [bx, by] = ring[j]!
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside
  }
  return inside
}

/** Forest, water and fields are darker than this in blue; a pixel that is half cloud is brighter. */
const HALF_CLOUD = 2900

test('the cloud cover of the metadata is the share of cloud pixels', async () => {
  const requests = Array.from({ length: 60 }, (_, day): SceneRequest => ({
    sensor: 'sandbox-open',
    longitude: -61,
    latitude: -4,
    datetime: new Date(Date.UTC(2025, 5, 1 + day, 14, 20)),
    sizePx: 240,
  }))
  const skies = requests.map((request) => ({ request, cover: describeScene(request).cloudCover! }))
  const broken = skies.filter(({ cover }) => cover > 10 && cover < 90).slice(0, 4)
  assert.equal(broken.length, 4)
  const clear = skies.filter(({ cover }) => cover === 0).slice(0, 1)
  for (const { request, cover } of [...broken, ...clear]) {
    const { band } = await render(request)
    const valid = band('blue').filter((sample) => sample > 0)
    const share = (100 * valid.filter((sample) => sample > HALF_CLOUD).length) / valid.length
    assert.ok(Math.abs(share - cover) <= 2, `${String(request.datetime)}: ${share.toFixed(1)}% of the pixels, ${cover}% in the metadata`)
  }
})

test('fields are greener in their season, in both hemispheres', async () => {
  for (const [place, inSeason, offSeason] of [
    [PLAIN, '2025-05-25', '2025-12-20'],
    [{ longitude: -61, latitude: -35 }, '2025-11-25', '2025-06-20'],
  ] as const) {
    const ndvi = async (day: string): Promise<number> => {
      const { band } = await render(clearDay({ sensor: 'sandbox-open', ...place, datetime: `${day}T13:00:00Z`, sizePx: 160 }))
      return median(ndviOf(band('nir'), band('red'), band('blue')))
    }
    const [green, brown] = [await ndvi(inSeason), await ndvi(offSeason)]
    assert.ok(green > brown + 0.15, `${place.latitude}: ${green.toFixed(2)} in season, ${brown.toFixed(2)} off season`)
  }
})

/** The request on the first cloud-free day from its date on. */
function clearDay(request: SceneRequest): SceneRequest {
  for (let days = 0; days < 60; days++) {
    const later = { ...request, datetime: new Date(new Date(request.datetime).getTime() + days * 86_400_000) }
    if (describeScene(later).cloudCover === 0) return later
  }
  throw new Error('no clear day')
}

function ndviOf(nir: SampleArray, red: SampleArray, blue: SampleArray): number[] {
  const values: number[] = []
  for (let i = 0; i < nir.length; i++) if (nir[i]! > 0 && blue[i]! < HALF_CLOUD / 2) values.push((nir[i]! - red[i]!) / (nir[i]! + red[i]!))
  return values
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN

test('open water is darker in the near infrared than in blue', async () => {
  const { band } = await render({ sensor: 'sandbox-open', longitude: -30, latitude: 35, datetime: '2025-06-01T13:00:00Z', sizePx: 64 })
  const [nir, blue] = [band('nir'), band('blue')]
  assert.ok(blue.every((sample, i) => sample === 0 || sample > nir[i]!))
})

test('neighbouring scenes show the same ground where they meet', async () => {
  const request = { sensor: 'sandbox-dem', latitude: 46.4, datetime: SUMMER, sizePx: 128 } as const
  const [a, b] = [await render({ ...request, longitude: 9.5 }), await render({ ...request, longitude: 9.52 })]
  const shift = Math.round((b.scene.transform[0] - a.scene.transform[0]) / 30)
  const down = Math.round((a.scene.transform[3] - b.scene.transform[3]) / 30)
  const [left, right] = [a.band('elevation'), b.band('elevation')]
  let compared = 0
  for (let y = Math.max(0, -down); y < 128 - Math.max(0, down); y++)
    for (let x = 0; x < 128 - shift; x++) {
      const difference = Math.abs(left[(y + down) * 128 + x + shift]! - right[y * 128 + x]!)
      assert.ok(difference < 2, `${difference} m at ${x}, ${y}`)
      compared++
    }
  assert.ok(compared > 1000)
})

test('neighbouring images of one pass differ only by noise', async () => {
  const request = { sensor: 'sandbox-open', latitude: 48.2, datetime: SUMMER, sizePx: 128 } as const
  const [a, b] = [await render({ ...request, longitude: 2.3 }), await render({ ...request, longitude: 2.306 })]
  const pairs: number[] = []
  const shift = Math.round((b.scene.transform[0] - a.scene.transform[0]) / 10)
  const down = Math.round((a.scene.transform[3] - b.scene.transform[3]) / 10)
  const [left, right] = [a.band('red'), b.band('red')]
  for (let y = Math.max(0, -down); y < 128 - Math.max(0, down); y++)
    for (let x = 0; x < 128 - shift; x++) {
      const [p, q] = [left[(y + down) * 128 + x + shift]!, right[y * 128 + x]!]
      if (p > 0 && q > 0) pairs.push(Math.abs(p - q) / (p + 100))
    }
  assert.ok(pairs.length > 1000)
  const far = pairs.filter((difference) => difference > 0.1).length / pairs.length
  assert.ok(median(pairs) < 0.03 && far < 0.03, `median ${median(pairs).toFixed(3)}, ${(100 * far).toFixed(1)}% far apart`)
})

test('resolutions agree: a fine scene averages to the coarse one', async () => {
  const fine = await render({ sensor: 'sandbox-hr', ...PLAIN, datetime: '2025-07-10T10:40:00Z', sizePx: 200 })
  const coarse = await render({ sensor: 'sandbox-open', ...PLAIN, datetime: '2025-07-10T10:40:00Z', sizePx: 60 })
  const pairs = pairUp(fine, coarse, 'red')
  assert.ok(pairs.length > 500)
  assert.ok(correlation(pairs) > 0.8, `correlation ${correlation(pairs).toFixed(2)}`)
})

/** Means of the fine pixels within each coarse one. */
function pairUp(fine: Rendered, coarse: Rendered, name: string): [number, number][] {
  const [sums, counts] = [new Float64Array(coarse.scene.width ** 2), new Float64Array(coarse.scene.width ** 2)]
  const [from, to] = [fine.scene.transform, coarse.scene.transform]
  const samples = fine.band(name)
  for (let y = 0; y < fine.scene.height; y++)
    for (let x = 0; x < fine.scene.width; x++) {
      const value = samples[y * fine.scene.width + x]!
      const column = Math.floor((from[0] + (x + 0.5) * from[1] - to[0]) / to[1])
      const row = Math.floor((from[3] + (y + 0.5) * from[5] - to[3]) / to[5])
      if (value === 0 || column < 0 || row < 0 || column >= coarse.scene.width || row >= coarse.scene.height) continue
      sums[row * coarse.scene.width + column]! += value
      counts[row * coarse.scene.width + column]! += 1
    }
  const pairs: [number, number][] = []
  coarse.band(name).forEach((value, i) => {
    if (value > 0 && counts[i]! >= 9) pairs.push([sums[i]! / counts[i]!, value])
  })
  return pairs
}

function correlation(pairs: readonly (readonly [number, number])[]): number {
  const mean = (k: 0 | 1): number => pairs.reduce((sum, pair) => sum + pair[k], 0) / pairs.length
  const [ma, mb] = [mean(0), mean(1)]
  let [ab, aa, bb] = [0, 0, 0]
  for (const [a, b] of pairs) {
    ab += (a - ma) * (b - mb)
    aa += (a - ma) ** 2
    bb += (b - mb) ** 2
  }
  return ab / Math.sqrt(aa * bb)
}

test('every sensor renders a scene anywhere, in the right zone, and stops when aborted', async () => {
  for (const sensor of SENSOR_IDS) {
    const { scene } = await render({ sensor, longitude: 151.2, latitude: -33.8, datetime: '2025-01-10T00:10:00Z', sizePx: 32 })
    assert.equal(scene.epsg, 32756)
  }
  const scene = describeScene({ sensor: 'sandbox-vhr', ...PLAIN, datetime: SUMMER, sizePx: 512 })
  await assert.rejects(renderScene(scene, memorySink(), { signal: AbortSignal.abort() }))
  assert.throws(() => describeScene({ sensor: 'sandbox-vhr', longitude: 0, latitude: 89, datetime: SUMMER }), RangeError)
  assert.throws(() => describeScene({ sensor: 'sandbox-vhr', ...PLAIN, datetime: 'soon' }), RangeError)
})

// Goal: an image of any orderable area has a limited number of pixels, shows the whole area, and states its pixel size.
test('a file with some bands has the same samples as a file with all of them', async () => {
  const { scene, band } = await render({ sensor: 'sandbox-open', ...PLAIN, datetime: SUMMER, sizePx: 64 })
  for (const names of [['nir'], ['red', 'green', 'blue']]) {
    const bands = names.map((name) => scene.bands.find((each) => each.name === name)!)
    const samples = renderSamples({ ...scene, bands })
    names.forEach((name, index) =>
      assert.deepEqual(
        samples.filter((_, at) => at % names.length === index),
        band(name),
      ),
    )
  }
  assert.notDeepEqual(band('nir'), band('red'))
})

test('crops within a number of pixels', () => {
  const scene = describeScene({ sensor: 'sandbox-vhr', longitude: 10.1, latitude: 48.1, datetime: '2026-05-01T10:30:00Z', sizePx: 512 })
  const square = (degrees: number) => {
    const [west, south] = [10.1 - degrees / 2, 48.1 - degrees / 2]
    const corners: [number, number][] = [
      [west, south],
      [west + degrees, south],
      [west + degrees, south + degrees],
      [west, south + degrees],
      [west, south],
    ]
    return { type: 'Polygon' as const, coordinates: [corners] }
  }
  const maxPx = 64_000_000
  for (const degrees of [0.005, 0.05, 0.22]) {
    const crop = cropOf(scene, square(degrees), { maxPx, isBounded: false })
    assert.ok(crop.width * crop.height <= maxPx * 1.01, `${crop.width} by ${crop.height}`)
    assert.ok(crop.height * crop.gsdM > degrees * 111_000, 'it contains the whole area')
    assert.equal(crop.gsdM === 0.5, degrees < 0.05, `${crop.gsdM} m`)
    assert.equal(crop.transform[1], crop.gsdM)
  }
})
