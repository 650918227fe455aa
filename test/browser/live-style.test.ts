// Goal: a style that the console applies by itself looks as the service renders it.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import sharp from 'sharp'
import { evaluate } from '../../packages/console/src/map/live/evaluate.ts'
import { encodeDataTile } from '#raster/encode/data-tile.ts'
import { parseExpression, postfixOf, type PostfixStep } from '#raster/expression/index.ts'
import { campaign, testSeed } from '../support/campaign.ts'
import { expressions } from '../support/expressions.ts'
import { rasterItem } from '../support/layers.ts'
import { scene, tileAt } from '../support/scene.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, WITHOUT_BROWSER } from './chromium.ts'
import { livePage, type LivePage } from './support/live-page.ts'

const NODATA = -9999
const INSIDE = tileAt(151.15, -33.1, 12)
const float = (band: number, x: number, y: number): number =>
  x % 40 < 4 ? NODATA : x === 77 && band === 0 ? Number.NaN : Math.sin(x / 9 + band) * (y + 1) * 0.37

interface Case {
  asset: string
  style: Record<string, string>
  colormap?: string
  range?: [number, number]
}

const CASES: readonly Case[] = [
  { asset: 'data', style: {} },
  { asset: 'data', style: { bands: '4,3,2' }, range: [150, 700] },
  { asset: 'data', style: { bands: '4,4,1', rescale: '150,700;200,900;100,500' } },
  { asset: 'data', style: { bands: '2' }, range: [201.5, 655.25] },
  { asset: 'data', style: { bands: '2' }, colormap: 'viridis' },
  { asset: 'data', style: { bands: '3' }, colormap: 'tab20', range: [300, 800] },
  { asset: 'data', style: { expression: '(nir - red) / (nir + red)' }, colormap: 'rdylgn', range: [-0.2, 0.4] },
  { asset: 'data', style: { expression: '(b4 - b3) / (b4 + b3) > 0.1' }, colormap: 'magma_r', range: [0, 1] },
  { asset: 'data', style: { expression: 'b4; where(b1 > 300, b2, b3); sqrt(b3) * 20' }, range: [100, 900] },
  { asset: 'bytes', style: {} },
  { asset: 'bytes', style: { bands: '1' }, colormap: 'turbo', range: [20, 210] },
  { asset: 'bytes', style: { expression: 'clip(b1 ** 1.5 / 20, 3, 200) + log10(b2 + 1)' }, range: [0, 150] },
  { asset: 'floats', style: { bands: '1,2,3' } },
  { asset: 'floats', style: { bands: '1' }, colormap: 'plasma', range: [-20.5, 30.25] },
  { asset: 'floats', style: { expression: 'b1 ** 2 / (b2 + 3)' }, colormap: 'viridis', range: [-30, 300] },
  { asset: 'floats', style: { expression: 'exp(b1 / 50) - min(b2, b3, 4)' } },
]

// Goal: for bytes, 16-bit integers and floats with gaps, in bands, colours and expressions, no pixel is further than one step from the
// service's own image, and what has no data there has none here.
test('the graphics processor draws what the service does', { skip: WITHOUT_BROWSER }, async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  const id = await rasterItem(w, org, [
    { bytes: await scene() },
    {
      key: 'bytes',
      bytes: await scene({ dataType: 'uint8', nodata: 0, value: (band, x, y) => (x % 30 < 2 ? 0 : (x * (band + 2) + y) % 256) }),
    },
    { key: 'floats', bytes: await scene({ dataType: 'float32', nodata: NODATA, value: float }) },
  ])
  const tile = async (input: object) => {
    const { status, bytes } = await w.call(token, 'items.tile.render', { item_id: id, ...INSIDE, ...input })
    assert.equal(status, 200, bytes.toString())
    return bytes
  }
  const image = async (input: object) =>
    await sharp(await tile({ ...input, format: 'png' }))
      .ensureAlpha()
      .raw()
      .toBuffer()
  const rendered = []
  for (const { asset, style, colormap, range } of CASES) {
    const wanted = { asset_key: asset, ...style, ...(range ? { rescale: range.join(',') } : {}) }
    rendered.push({
      what: JSON.stringify({ asset, style, colormap, range }),
      range: range ?? null,
      colors: colormap ? await colorsOf(w, org, colormap) : null,
      data: await tile({ asset_key: asset, ...style, format: 'bin' }),
      // Without colours, so that a step is a step.
      grey: await image(wanted),
      colored: colormap ? await image({ ...wanted, colormap }) : null,
    })
  }
  const page = await livePage(await browser(t))
  let [pixels, differing] = [0, 0]
  for (const { what, range, colors, data, grey, colored } of rendered) {
    const drawn = await page.draw(data, range, colors)
    assert.deepEqual([drawn.error, drawn.isRight], [0, true], what)
    const found = compare(drawn.pixels, grey, colors)
    assert.deepEqual(found.wrong, [], what)
    if (colored) assert.ok(countDifferent(drawn.pixels, colored) <= found.differing, `${what} in its colours`)
    pixels += grey.length / 4
    differing += found.differing
  }
  t.diagnostic(`${pixels} pixels of ${CASES.length} styles: ${differing} differ, each by one step`)
  const cost = await page.costOf(rendered[1]!.data, COST.tiles, COST.frames)
  t.diagnostic(
    `a repaint of ${COST.tiles} tiles of 256 × 256 pixels in three bands: ${cost.script.toFixed(2)} ms of the page's thread, ` +
      `${cost.all.toFixed(1)} ms with a processor that is software`,
  )
  await t.test('random expressions', (inner) => randomExpressions(inner, page))
})

const COST = { tiles: 12, frames: 5 }

async function colorsOf(w: World, org: Org, id: string): Promise<Uint8Array> {
  const { groups } = await w.ok(org.owner.token, 'cog.colormaps', { id })
  return Uint8Array.from(Buffer.from(groups[0].colormaps[0].colors.join('').replaceAll('#', ''), 'hex'))
}

/** Pixels of ours that are not within one step of the service's grey or colours, or are data in one of them only. */
function compare(ours: Buffer, grey: Buffer, colors: Uint8Array | null): { wrong: string[]; differing: number } {
  const wrong: string[] = []
  let differing = 0
  const entry = (index: number) => [...colors!.subarray(index * 3, index * 3 + 3)].join()
  for (let i = 0; i < grey.length; i += 4) {
    const [pixel, expected] = [[...ours.subarray(i, i + 4)], [...grey.subarray(i, i + 4)]]
    const steps = colors
      ? [0, -1, 1].find((step) => entry(expected[0]! + step) === pixel.slice(0, 3).join())
      : Math.max(...[0, 1, 2].map((channel) => Math.abs(pixel[channel]! - expected[channel]!)))
    const isRight = pixel[3] === expected[3] && (pixel[3] === 0 || (steps !== undefined && Math.abs(steps) <= 1))
    if (!isRight && wrong.length < 5) wrong.push(`pixel ${i / 4}: ${pixel.join()} for ${expected.join()}`)
    if (pixel[3] !== 0 && steps !== 0) differing += 1
  }
  return { wrong, differing }
}

function countDifferent(ours: Buffer, theirs: Buffer): number {
  let count = 0
  for (let i = 0; i < ours.length; i += 4) if (ours[i + 3] !== 0 && ours.compare(theirs, i, i + 4, i, i + 4) !== 0) count += 1
  return count
}

const SIDE = 32
const EXPRESSIONS = campaign({ short: 60, ci: 200, long: 1_500 })

/**
 * Goal: whatever can be written is computed as the service computes it. Pixels whose result depends on the last digits of 32-bit
 * arithmetic, such as a comparison of nearly equal numbers, are left out: for those the console asks itself whether it is right.
 */
async function randomExpressions(t: TestContext, page: LivePage): Promise<void> {
  let [compared, left, refused] = [0, 0, 0]
  const integers = fc.integer({ min: 0, max: 10_000 })
  const floats = fc.float({ min: -100, max: 100, noNaN: true })
  const cases = fc.sample(
    fc.tuple(
      expressions(['b1', 'b2', 'b3']).filter((source) => /b\d/.test(source)),
      fc.oneof(
        fc.tuple(fc.constant('uint16' as const), fc.array(integers, { minLength: 40, maxLength: 40 })),
        fc.tuple(fc.constant('float32' as const), fc.array(floats, { minLength: 40, maxLength: 40 })),
      ),
    ),
    { numRuns: EXPRESSIONS, seed: testSeed | 0 },
  )
  for (const [source, [type, values]] of cases) {
    const { bands, results } = parseExpression(source)
    const steps = postfixOf(results[0]!)
    const count = SIDE * SIDE
    const sampleAt = (band: number, i: number) => values[(i * (2 * band + 1) + Math.floor(i / values.length)) % values.length]!
    const arrayOf = (numbers: number[]) => (type === 'uint16' ? Uint16Array.from(numbers) : Float32Array.from(numbers))
    const planes = bands.map((band) => arrayOf(Array.from({ length: count }, (_, i) => sampleAt(band, i))))
    const both = Array.from({ length: count }, (_, i) => resultOf(steps, (band) => planes[bands.indexOf(band)]![i]!))
    const numbers = both.map(({ exact }) => exact).filter((value) => Math.abs(value) < 1e30)
    const [low, high] = [numbers.reduce((a, b) => Math.min(a, b), 0), numbers.reduce((a, b) => Math.max(a, b), 1)]
    const style = { kind: 'expression' as const, results: [steps], colormap: null }
    const header = { width: SIDE, height: SIDE, type, bands, scales: null, style, ranges: [[low, high] as const] }
    const bytes = encodeDataTile(header, planes, new Uint8Array(count).fill(255))
    const drawn = await page.draw(bytes).catch((error: Error) => error)
    if (drawn instanceof Error) {
      refused += 1
      continue
    }
    const byteOf = (value: number) => Math.max(0, Math.min(255, ((value - low) / (high - low)) * 255))
    for (const [i, { exact: expected, rounded, isSteady }] of both.entries()) {
      const shown: number = drawn.pixels[i * 4]!
      const alpha: number = drawn.pixels[i * 4 + 3]!
      const isClose = rounded.every((value) => Number.isNaN(expected) || Math.abs(byteOf(expected) - byteOf(value)) < 0.5)
      if (!isSteady || !isClose || Math.abs(expected) > 1e30) {
        left += 1
        continue
      }
      compared += 1
      const place = `${source} of ${type} at ${bands.map((band, k) => `b${band}=${planes[k]![i]}`).join()}`
      if (Number.isNaN(expected)) assert.equal(alpha, 0, `${place} has no data`)
      else
        assert.ok(
          alpha === 255 && Math.abs(shown - Math.floor(byteOf(expected))) <= 1,
          `${place}: ${shown}, alpha ${alpha}, for ${byteOf(expected)}`,
        )
    }
  }
  t.diagnostic(`${EXPRESSIONS} expressions: ${compared} pixels compared, ${left} left out, ${refused} expressions not translated`)
  assert.ok(compared > left, 'most pixels are compared')
}

interface Result {
  exact: number
  /** The same with every step rounded to 32 bits, and with the errors that a processor may add. */
  rounded: number[]
  isSteady: boolean
}

const CALLS: Readonly<Record<string, number>> = { neg: 1, abs: 1, sqrt: 1, log: 1, log10: 1, exp: 1, clip: 3, where: 3 }
/** Steps whose last digits differ between processors. */
const ROUGH = ['/', '**', 'sqrt', 'log', 'log10', 'exp']
const ERROR = 3e-6
const VARIANTS = [0, 1, 2, 3, 4]
const errorOf = (variant: number, at: number) => (variant === 0 ? 1 : 1 + ((at * 7 + variant * variant) % 5 < 2 ? ERROR : -ERROR))
const isWhole = (value: number) => Number.isInteger(value) && Math.abs(value) < 2 ** 24
const isNear = (a: number, b: number) => Math.abs(a - b) <= 4e-6 * Math.max(Math.abs(a), Math.abs(b))

/** Not steady: nearly equal numbers are compared, or a number leaves the range of 32 bits on the way. */
function resultOf(steps: readonly PostfixStep[], bandOf: (band: number) => number): Result {
  const stack: Result[] = []
  for (const [at, step] of steps.entries()) {
    if (typeof step !== 'string' || /^b\d/.test(step)) {
      const exact = evaluate([step], bandOf)
      // The smallest numbers of 32 bits are zero to a graphics processor.
      stack.push({ exact, rounded: VARIANTS.map(() => Math.fround(exact)), isSteady: exact === 0 || !(Math.abs(exact) < 1e-30) })
      continue
    }
    const operands = stack.splice(-(CALLS[step] ?? 2))
    const apply = (values: readonly number[]) => evaluate([...values.map((value) => (Number.isNaN(value) ? null : value)), step], bandOf)
    const exact = apply(operands.map((operand) => operand.exact))
    const rounded = VARIANTS.map((variant) => {
      const value = apply(operands.map((operand) => operand.rounded[variant]!))
      return Math.fround(ROUGH.includes(step) ? value * errorOf(variant, at) : value)
    })
    const [a, b] = operands.map((operand) => operand.exact) as [number, number]
    const isOpen = /^[<>=!]/.test(step) && isNear(a, b) && !(isWhole(a) && isWhole(b))
    const size = Math.abs(exact)
    const isInRange = Number.isNaN(exact) || size === 0 || (size > 1e-30 && size < 1e37)
    const isSame = rounded.every((value) => Number.isNaN(value) === Number.isNaN(exact) && (value === 0) === (exact === 0))
    stack.push({ exact, rounded, isSteady: operands.every(({ isSteady }) => isSteady) && !isOpen && isInRange && isSame })
  }
  return stack[0]!
}
