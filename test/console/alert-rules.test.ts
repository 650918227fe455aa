import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isMet as isMetByService } from '#services/alerts/rule-value.ts'
import { draftOf, fromAddress, parseMapping, termsOf, toAddress, type Draft } from '../../packages/console/src/screens/alerts/draft.ts'
import { COMPARISONS, isMet, limitWords, maskOf, quietWords, withNumbers } from '../../packages/console/src/screens/alerts/rule-text.ts'

const SQUARE: GeoJSON.Polygon = {
  type: 'Polygon',
  coordinates: [
    [
      [1, 1],
      [2, 1],
      [2, 2],
      [1, 2],
      [1, 1],
    ],
  ],
}
const BASE: Draft = {
  name: '',
  description: '',
  collection: '',
  on: 'created',
  expression: '',
  mapping: {},
  comparison: 'gt',
  threshold: '',
  upper: '',
  tell: 'inbox',
  quiet: '0',
  area: null,
}

const text = fc.string({ unit: 'grapheme', maxLength: 30 })
const comparison = fc.constantFrom(...COMPARISONS.map(({ value }) => value))
const draft: fc.Arbitrary<Draft> = fc.record(
  {
    name: text,
    description: text,
    collection: text,
    on: fc.constantFrom('created', 'updated', 'both'),
    expression: text,
    mapping: fc.dictionary(fc.stringMatching(/^[A-Za-z][a-z0-9_]{0,6}$/), fc.integer({ min: 1, max: 1_000 }), { noNullPrototype: true }),
    comparison,
    threshold: text,
    upper: text,
    tell: fc.constantFrom('inbox', 'webhook', 'both'),
    quiet: fc.constantFrom('0', '60', '1440'),
    area: fc.constantFrom(null, SQUARE),
  },
  { noNullPrototype: true },
)

const addressOf = (now: Draft, base: Draft) =>
  Object.fromEntries(Object.entries(toAddress(now, base)).filter((entry): entry is [string, string] => entry[1] !== null))

// Goal: a rule that is being edited survives a reload, wherever the edit began, and the address holds only what was changed.
test('the address of a draft gives the draft back', () => {
  fc.assert(fc.property(draft, draft, (now, base) => assert.deepEqual(fromAddress(addressOf(now, base), base), now)))
  assert.deepEqual(addressOf(BASE, BASE), {})
  assert.deepEqual(addressOf({ ...BASE, name: 'Flood' }, BASE), { name: 'Flood' })
})

test('an address with unknown values gives the base', () => {
  assert.deepEqual(fromAddress({ on: 'sometimes', is: 'near', tell: 'pigeon' }, BASE), BASE)
})

test('bands are written as name:number', () => {
  assert.deepEqual(parseMapping('nir:4 red=b3'), { nir: 4, red: 3 })
  assert.deepEqual(parseMapping('aerosol : 120'), { aerosol: 120 })
  assert.deepEqual(parseMapping('nothing here'), {})
})

test('a draft says what is missing, in the order of the form', () => {
  const missing = (patch: Partial<Draft>) => termsOf({ ...BASE, ...patch }).missing
  assert.equal(missing({}), 'an expression')
  assert.equal(missing({ expression: 'nir' }), 'a threshold')
  assert.equal(missing({ expression: 'nir', threshold: 'much' }), 'a threshold')
  const between = { expression: 'nir', threshold: '2', comparison: 'between' } as const
  assert.equal(missing({ ...between, upper: '1' }), 'an upper limit above the lower one')
  assert.equal(missing({ ...between, upper: '3' }), 'a name')
  assert.equal(missing({ ...between, upper: '3', name: 'Flood' }), null)
})

test('a rule that is opened and saved is unchanged', () => {
  const rule = {
    name: 'Flood',
    description: null,
    collection_id: null,
    event_types: ['item.created', 'item.updated'],
    expression: '(g - n) / (g + n)',
    comparison: 'between',
    threshold: 0.1,
    threshold_upper: 0.4,
    band_mapping: { g: 2, n: 4 },
    aoi_geometry: SQUARE,
    notification_channels: ['in_app', 'webhook'],
    cooldown_minutes: 60,
  } as const
  assert.deepEqual(termsOf(draftOf(rule as unknown as Parameters<typeof draftOf>[0])).terms, rule)
})

// Goal: the console predicts what the service decides, and says it in words.
test('the console compares as the service does', () => {
  const limit = fc.double({ noNaN: true, noDefaultInfinity: true })
  fc.assert(
    fc.property(comparison, limit, limit, limit, (kind, lower, upper, value) => {
      const limits = { comparison: kind, threshold: lower, threshold_upper: kind === 'between' ? upper : null }
      assert.equal(
        isMet(limits, value),
        isMetByService({ comparison: kind, threshold: lower, thresholdUpper: limits.threshold_upper }, value),
      )
    }),
  )
})

test('limits and intervals in words', () => {
  assert.equal(limitWords({ comparison: 'gt', threshold: 0.12, threshold_upper: null }), 'above 0.120')
  assert.equal(limitWords({ comparison: 'between', threshold: 10, threshold_upper: 20 }), 'between 10 and 20')
  assert.deepEqual([0, 60, 360, 1440, 10080, 90].map(quietWords), [
    'every time',
    'at most once an hour',
    'at most once every 6 hours',
    'at most once a day',
    'at most once every 7 days',
    'at most once every 90 minutes',
  ])
})

test('tiles get band numbers instead of the names of a rule', () => {
  assert.equal(withNumbers('(nir - red) / (nir + red)', { nir: 4, red: 3 }), '(b4 - b3) / (b4 + b3)')
  assert.equal(withNumbers('constructor + max(nir)', { nir: 4 }), 'constructor + max(b4)')
  assert.equal(maskOf('b1', { comparison: 'lt', threshold: 3, threshold_upper: null }), 'where(b1 < 3, 1, 0)')
  assert.match(maskOf('b1', { comparison: 'between', threshold: 3, threshold_upper: 5 }), /b1 >= 3.*b1 <= 5/)
})
