import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cql2FromText } from '#core/cql2-text.ts'
import { campaign } from '../../../test/support/campaign.ts'
import { world } from '../../../test/support/world.ts'

/** A naive evaluation of a filter for an item: true, false, or null if unknown. */
type Truth = boolean | null
type Item = { id: string; x: number; y: number; datetime: string; cloud: number | null; properties: Record<string, unknown> }
// oxlint-disable-next-line typescript/no-explicit-any
type Node = any

const valueOf = (item: Item, name: string): unknown =>
  ({ id: item.id, datetime: item.datetime, 'eo:cloud_cover': item.cloud })[name] ?? item.properties[name] ?? null

const byCodePoint = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

function compare(op: string, a: unknown, b: unknown): Truth {
  if (a === null || typeof a !== typeof b) return null
  const order = typeof a === 'string' ? byCodePoint(a, b as string) : Number(a) - Number(b)
  return { '=': order === 0, '<>': order !== 0, '<': order < 0, '<=': order <= 0, '>': order > 0, '>=': order >= 0 }[op]!
}

const and = (all: Truth[]): Truth => (all.includes(false) ? false : all.includes(null) ? null : true)
const or = (all: Truth[]): Truth => (all.includes(true) ? true : all.includes(null) ? null : false)
const literal = (value: Node): unknown => (value !== null && typeof value === 'object' ? value.timestamp : value)

function evaluate(node: Node, item: Item): Truth {
  if (typeof node === 'boolean') return node
  const { op, args } = node
  const subject = args[0]?.property === undefined ? null : valueOf(item, args[0].property)
  switch (op) {
    case 'and':
      return and(args.map((each: Node) => evaluate(each, item)))
    case 'or':
      return or(args.map((each: Node) => evaluate(each, item)))
    case 'not': {
      const inner = evaluate(args[0], item)
      return inner === null ? null : !inner
    }
    case 'isNull':
      return subject === null
    case 'in':
      return or(args[1].map((each: Node) => compare('=', subject, literal(each))))
    case 'between':
      return and([compare('>=', subject, literal(args[1])), compare('<=', subject, literal(args[2]))])
    case 'like':
      return typeof subject === 'string' ? likeness(args[1]).test(subject) : null
    case 's_intersects': {
      const [west, south] = args[1].coordinates[0][0]
      const [east, north] = args[1].coordinates[0][2]
      return item.x <= east && item.x + 1 >= west && item.y <= north && item.y + 1 >= south
    }
    default:
      return compare(op, subject, literal(args[1]))
  }
}

const likeness = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll('%', '.*')
      .replaceAll('_', '.')}$`,
    'su',
  )

const instant = fc.integer({ min: 0, max: 20 }).map((day) => new Date(Date.UTC(2026, 0, 1 + day)).toISOString())
const word = fc.constantFrom('a', 'b', 'ab', 'é', 'Z', "it's", '%', '𝄞')
const number = fc.integer({ min: -3, max: 3 }).map((n) => n / 2)
const anything = fc.oneof(word, number, fc.boolean())
const square = fc
  .tuple(fc.integer({ min: -10, max: 10 }), fc.integer({ min: -10, max: 10 }), fc.integer({ min: 1, max: 8 }))
  .map(([x, y, size]) => ({
    type: 'Polygon',
    coordinates: [
      [
        [x + 0.5, y + 0.5],
        [x + 0.5 + size, y + 0.5],
        [x + 0.5 + size, y + 0.5 + size],
        [x + 0.5, y + 0.5 + size],
        [x + 0.5, y + 0.5],
      ],
    ],
  }))

const property = (name: string) => ({ property: name })
const free = fc.constantFrom('p', 'q:r').map(property)
const comparison = fc.constantFrom('=', '<>', '<', '<=', '>', '>=')
const operation = (op: string, ...args: Node[]) => ({ op, args })
const predicate: fc.Arbitrary<Node> = fc.oneof(
  fc.tuple(comparison, free, anything).map(([op, a, b]) => operation(op, a, b)),
  fc
    .tuple(
      comparison,
      number.map((n) => n * 20),
    )
    .map(([op, b]) => operation(op, property('eo:cloud_cover'), b)),
  fc.tuple(comparison, instant).map(([op, timestamp]) => operation(op, property('datetime'), { timestamp })),
  fc.tuple(comparison, word).map(([op, b]) => operation(op, property('id'), b)),
  fc.tuple(free, fc.array(anything, { minLength: 1, maxLength: 3 })).map(([a, list]) => operation('in', a, list)),
  fc.tuple(free, number, number).map(([a, low, high]) => operation('between', a, low, high)),
  fc.tuple(free, fc.constantFrom('a%', '%', '_', 'a_', "it's")).map(([a, b]) => operation('like', a, b)),
  fc.oneof(free, fc.constant(property('eo:cloud_cover'))).map((a) => operation('isNull', a)),
  square.map((geometry) => operation('s_intersects', property('geometry'), geometry)),
)
const filter: fc.Arbitrary<Node> = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    predicate,
    tie('node').map((inner) => operation('not', inner)),
    fc
      .tuple(fc.constantFrom('and', 'or'), fc.array(tie('node'), { minLength: 2, maxLength: 3 }))
      .map(([op, args]) => operation(op, ...args)),
  ),
})).node

const item: fc.Arbitrary<Omit<Item, 'id'>> = fc.record({
  x: fc.integer({ min: -10, max: 10 }),
  y: fc.integer({ min: -10, max: 10 }),
  datetime: instant,
  cloud: fc.option(fc.integer({ min: 0, max: 60 })),
  properties: fc.record({ p: anything, 'q:r': fc.option(anything) }, { requiredKeys: [] }),
})

/** The same filter as text. */
function spell(node: Node): string {
  if (node === null || typeof node !== 'object')
    return typeof node === 'string' ? `'${node.replaceAll("'", "''")}'` : String(node).toUpperCase()
  if (node.property) return /^[a-z]+$/i.test(node.property) ? node.property : `"${node.property}"`
  if (node.timestamp) return `TIMESTAMP('${node.timestamp}')`
  if (node.type === 'Polygon') return `POLYGON((${node.coordinates[0].map((p: number[]) => p.join(' ')).join(', ')}))`
  const [a, b, c] = node.args
  switch (node.op) {
    case 'and':
    case 'or':
      return `(${node.args.map(spell).join(` ${node.op.toUpperCase()} `)})`
    case 'not':
      return `NOT (${spell(a)})`
    case 'isNull':
      return `${spell(a)} IS NULL`
    case 'in':
      return `${spell(a)} IN (${b.map(spell).join(', ')})`
    case 'between':
      return `${spell(a)} BETWEEN ${spell(b)} AND ${spell(c)}`
    case 'like':
      return `${spell(a)} LIKE ${spell(b)}`
    case 's_intersects':
      return `S_INTERSECTS(${spell(a)}, ${spell(b)})`
    default:
      return `${spell(a)} ${node.op} ${spell(b)}`
  }
}

// Goal: for any filter, as JSON or text, PostgreSQL finds the same items as a naive evaluator; paging visits each match exactly
// once, in any order and with any page size.
test('CQL2 agrees with a naive evaluator, and pages visit each item once', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const items = fc.sample(item, { numRuns: 60, seed: 7 }).map((each, index): Item => ({ id: `${'abZé'[index % 4]}${index}`, ...each }))
  const { created } = await w.ok(org.owner.token, 'items.import_stac', {
    project_id: org.projectId,
    ndjson: items
      .map(({ id, x, y, datetime, cloud, properties }) => {
        const ring = [
          [x, y],
          [x + 1, y],
          [x + 1, y + 1],
          [x, y + 1],
          [x, y],
        ]
        const all = { ...properties, datetime, ...(cloud === null ? {} : { 'eo:cloud_cover': cloud }) }
        return JSON.stringify({ type: 'Feature', id, geometry: { type: 'Polygon', coordinates: [ring] }, properties: all, assets: {} })
      })
      .join('\n'),
  })
  assert.equal(created, items.length)
  const idsOf = (features: { id: string }[]) => features.map(({ id }) => id)

  await t.test('filters', async () => {
    await fc.assert(
      fc.asyncProperty(filter, async (expression) => {
        const expected = items.filter((each) => evaluate(expression, each) === true).map(({ id }) => id)
        const { status, body } = await w.call(org.owner.token, 'stac.search', { filter: expression, limit: 1_000 })
        if (status === 422) return // More nodes than a filter may have.
        assert.equal(status, 200, JSON.stringify(body))
        assert.deepEqual(idsOf(body.features).toSorted(), expected.toSorted(), JSON.stringify(expression))
        assert.deepEqual(cql2FromText(spell(expression)), expression, spell(expression))
      }),
      { numRuns: campaign({ short: 150, long: 3_000 }) },
    )
  })

  await t.test('pages', async () => {
    const sort = fc.array(
      fc.record({ field: fc.constantFrom('datetime', 'eo:cloud_cover', 'id', 'title', 'gsd'), direction: fc.constantFrom('asc', 'desc') }),
      { maxLength: 2 },
    )
    const place = fc.option(square.map(({ coordinates: [ring] }) => [...ring![0]!, ...ring![2]!]))
    await fc.assert(
      fc.asyncProperty(filter, sort, place, fc.integer({ min: 1, max: 25 }), async (expression, sortby, bbox, limit) => {
        const search = { filter: expression, sortby, limit, ...(bbox ? { bbox } : {}) }
        const whole = await w.call(org.owner.token, 'stac.search', { ...search, limit: 1_000 })
        if (whole.status === 422) return
        const seen: string[] = []
        let next: string | undefined
        for (let page = 0; page <= items.length; page++) {
          const body = await w.ok(org.owner.token, 'stac.search', { ...search, ...(next ? { next } : {}) })
          assert.equal(body.context.matched, whole.body.features.length)
          seen.push(...idsOf(body.features))
          next = body.next
          if (!next) break
        }
        assert.deepEqual(seen, idsOf(whole.body.features), JSON.stringify(search))
      }),
      { numRuns: campaign({ short: 40, long: 500 }) },
    )
  })
})
