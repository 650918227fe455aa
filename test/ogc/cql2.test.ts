// Goal: each kind of filter that the standard of CQL2 shows is answered correctly or refused with the reason, as text and as JSON.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cql2FromText } from '#core/cql2-text.ts'
import { world } from '../support/world.ts'

const SQUARE = [
  [
    [10, 10],
    [11, 10],
    [11, 11],
    [10, 11],
    [10, 10],
  ],
]
/** Three items: a and b lie in the square, c elsewhere and has almost nothing. */
const ITEMS = {
  a: {
    gsd: 10,
    cloud_cover: 5,
    properties: { level: 4, depth: 2, tags: ['x', 'y'], owner: 'Mike Jones', pool: true, 'off-nadir': 3, flown: '2026-01-10' },
  },
  b: {
    gsd: 3,
    cloud_cover: 50,
    properties: { level: 7, depth: 0, tags: ['y'], owner: 'mike', pool: false, mixed: [1, 'x', true], flown: '2026-01-11T00:00:00Z' },
  },
  c: { gsd: 0.5, properties: { level: 'four', tags: 'x', owner: 'Åsa', flown: 20_260_110 } },
} as const

/** What finds which items. */
const ANSWERED: readonly (readonly [filter: string, ids: string])[] = [
  ["owner = 'mike'", 'b'],
  ["owner <> 'mike'", 'ac'],
  ["owner LIKE 'Mike%'", 'a'],
  ["owner NOT LIKE '%ike%'", 'c'],
  ["NOT owner LIKE '%ike%'", 'c'],
  ['level > 5', 'b'],
  ['"level" >= 4 AND pool = true', 'a'],
  ['level BETWEEN 4 AND 5', 'a'],
  ['level NOT BETWEEN 4 AND 5', 'b'],
  ['level IN (4.0, 7)', 'ab'],
  ["owner NOT IN ('mike')", 'ac'],
  ['pool IS NULL', 'c'],
  ['pool IS NOT NULL', 'ab'],
  ['NOT (level < 5) OR pool = true', 'ab'],
  ['(level > 5 OR pool = true) AND NOT (gsd > 5)', 'b'],
  ['eo:cloud_cover=5 OR eo:cloud_cover=50', 'ab'],
  ['S_INTERSECTS(geometry, BBOX(9, 9, 12, 12))', 'ab'],
  ['S_INTERSECTS(geometry, BBOX(9, 9, -100, 12, 12, 100))', 'ab'],
  ['S_INTERSECTS(geometry, POINT(10.5 10.5))', 'ab'],
  ['S_INTERSECTS(geometry, POLYGON((-10 -10, -9 -10, -9 -9, -10 -9, -10 -10)))', ''],
  ["T_INTERSECTS(datetime, INTERVAL('2026-01-01T00:00:00Z', '..'))", 'abc'],
  // Arithmetic. A minus is never part of a name, unless it is quoted.
  ['gsd-5>0', 'a'],
  ['gsd - 5.0 > 0', 'a'],
  ['gsd -5 < -4', 'c'],
  ['-gsd < -5', 'a'],
  ['gsd = +3', 'b'],
  ['"off-nadir" = 3', 'a'],
  ['level > (depth + 6)', 'b'],
  ['level <> (2 * depth)', 'b'],
  ['level = 2 * depth', 'a'],
  ['(level - depth) * 2 = 4', 'a'],
  ['8 = level * (1 + 1)', 'a'],
  ['level - 1 - 1 = 2', 'a'],
  ['10 - 2 * 3 = level', 'a'],
  ['level / depth = 2', 'a'],
  ['0 = (level % 2)', 'a'],
  ['3 = (level div 2)', 'b'],
  // Lists.
  ["A_CONTAINS(tags, ('x','y'))", 'a'],
  ["a_contains(tags, ('y'))", 'ab'],
  ["A_CONTAINEDBY(tags, ('y','z'))", 'b'],
  ["A_CONTAINS(('y','z'), tags)", 'b'],
  ["A_EQUALS(('y','x','y'), tags)", 'a'],
  ["A_OVERLAPS(tags, ('x','q'))", 'a'],
  ["A_OVERLAPS(mixed, ('q', TRUE))", 'b'],
  ["A_EQUALS((1.0, TRUE, 'x'), mixed)", 'b'],
  // Powers. What has none, as a negative number to a half, or is too large to be kept, is unknown.
  ['level = (2 ^ depth)', 'a'],
  ['level ^ 2 = 49', 'b'],
  ['(0 - level) ^ 0.5 < 1', ''],
  ['NOT ((0 - level) ^ 0.5 < 1)', ''],
  ['(1e300 * level) ^ 2 > 1', ''],
  ['level ^ 999 > 1', ''],
  ['depth ^ -1 = 0.5', 'a'],
  // Case and accents.
  ["CASEI(owner) = CASEI('MIKE')", 'b'],
  ["CASEI(owner) IN (CASEI('MIKE'), CASEI('åSA'))", 'bc'],
  ["CASEI(owner) LIKE CASEI('MIKE%')", 'ab'],
  ["owner LIKE CASEI('MIKE%')", 'b'],
  ["ACCENTI(owner) = ACCENTI('Asa')", 'c'],
  ["CASEI(ACCENTI(owner)) = 'asa'", 'c'],
  ["ACCENTI(owner) = 'åsa'", ''],
  ["CASEI(level) = 'four'", 'c'],
  ["CASEI(owner) BETWEEN 'm' AND 'n'", 'ab'],
  ["CASEI('MIKE') = owner", 'b'],
  ["CASEI(name) = 'a'", 'a'],
  // Times.
  ["T_BEFORE(datetime, DATE('2015-01-01'))", ''],
  ["T_AFTER(datetime, DATE('2026-01-31'))", 'abc'],
  ["T_AFTER(datetime, DATE('2026-02-01'))", ''],
  ["T_DURING(datetime, INTERVAL('2026-01-01', '2026-03-01'))", 'abc'],
  ["T_DURING(datetime, INTERVAL('2026-01-01', '..'))", 'abc'],
  ["T_DISJOINT(flown, DATE('2026-01-10'))", 'b'],
  ["T_INTERSECTS(flown, TIMESTAMP('2026-01-10T12:00:00Z'))", 'a'],
  ["T_EQUALS(flown, DATE('2026-01-10'))", 'a'],
  ["T_MEETS(INTERVAL('2026-01-01', '2026-01-10'), INTERVAL(flown, flown))", 'a'],
  ["T_OVERLAPS(INTERVAL('2026-01-01', '2026-01-10'), INTERVAL(flown, '..'))", ''],
  ["T_BEFORE(flown, TIMESTAMP('2026-01-11T00:00:00Z'))", 'a'],
  ['T_AFTER(updated_at, created_at)', ''],
]

/** What is refused, and why. */
const REFUSED: readonly (readonly [filter: string, reason: RegExp])[] = [
  ['avg(level)', /'avg' is not a supported filter operator or function/],
  ['avg(level) < 4', /'avg' is not a supported filter function/],
  ["upper(owner) = 'MIKE'", /'upper' is not a supported filter function; use one of casei, accenti/],
  ["owner IN (lower('MIKE'))", /'lower' is not a supported filter function/],
  ["CASEI(upper(owner)) = 'MIKE'", /'upper' is not a supported filter function/],
  ["CASEI(owner, 'x') = 'mike'", /'casei' requires exactly 1 arg/],
  ['CASEI(owner) = 3', /must be a property or a string/],
  ["CASEI(gsd) = '3'", /'gsd' is not a string, so it has neither case nor accents/],
  ["CASEI(owner) LIKE 'x\\'", /must not end with a backslash/],
  [`${'CASEI('.repeat(5)}owner${')'.repeat(5)} = 'mike'`, /must have at most 4 functions around a string/],
  ["level > ('a' + 1)", /Arithmetic only supports numbers and properties/],
  ['datetime - 1 > 0', /'datetime' is not a number, so it cannot be used in arithmetic/],
  ['level = depth', /A property cannot be compared with another property/],
  ['S_WITHIN(road, BBOX(9, 9, 12, 12))', /'s_within' compares .*, not with the property 'road'/],
  ['S_WITHIN(geometry, geometry)', /not with the property 'geometry'/],
  ['S_INTERSECTS(geometry, Buffer(geometry, 10))', /'buffer' is not a supported filter function/],
  ['S_WITHIN(geometry, GEOMETRYCOLLECTION(POINT(1 1), POINT(2 2)))', /not a GeometryCollection/],
  ["T_METBY(updated, INTERVAL('2015-01-01', '..'))", /'t_metBy' compares intervals/],
  ["T_BEFORE(datetime, '..')", /only the end of an interval can be open/],
  ["T_BEFORE(datetime, INTERVAL('2015-01-02', '2015-01-01'))", /must not start after it ends/],
  ["T_BEFORE(gsd, DATE('2015-01-01'))", /'gsd' is not a time/],
  ['T_BEFORE(datetime, now())', /'now' is not a supported filter function/],
  ["T_BEFORE(datetime, INTERVAL('yesterday', '..'))", /is not an RFC 3339 timestamp/],
  ["A_OVERLAPS(tags, (DATE('2010-02-10')))", /'tags' can only be compared with strings, numbers and booleans/],
  ["A_CONTAINS(datetime, ('x'))", /'datetime' is not a list/],
  ['level', /expected a comparison/],
  ['level > 1 +', /has an unexpected end at character/],
  [`${'-'.repeat(15_000)}level > 1`, /nested deeper than 20 levels/],
  [`${'+'.repeat(15_000)}level > 1`, /nested deeper than 20 levels/],
  [`${'('.repeat(9_000)}level > 1`, /nested deeper than 20 levels|expected/],
  [`${'1+'.repeat(9_000)}level > 1`, /must have at most 20 arithmetic terms/],
]

test('filters of the CQL2 standard', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  const headers = { authorization: `Bearer ${token}` }
  for (const [name, item] of Object.entries(ITEMS))
    await w.ok(token, 'items.create', {
      project_id: org.projectId,
      type: 'clip',
      name,
      stac_id: name,
      datetime: '2026-02-01T00:00:00Z',
      ...(name === 'c' ? { geometry: { type: 'Point', coordinates: [50, 50] } } : { geometry: { type: 'Polygon', coordinates: SQUARE } }),
      ...item,
    })
  const asText = async (filter: string) =>
    await w.request('GET', `/stac/search?filter-lang=cql2-text&filter=${encodeURIComponent(filter)}`, { headers })
  const asJson = async (filter: unknown) => await w.post('/stac/search', { 'filter-lang': 'cql2-json', filter }, headers)
  const idsOf = ({ status, body }: { status: number; body: { features: { id: string }[] } }) =>
    status === 200
      ? body.features
          .map(({ id }) => id)
          .toSorted()
          .join('')
      : `${status} ${JSON.stringify(body)}`

  for (const [filter, ids] of ANSWERED)
    await t.test(filter, async () => {
      assert.equal(idsOf(await asText(filter)), ids)
      assert.equal(idsOf(await asJson(cql2FromText(filter))), ids, 'as JSON')
    })
  for (const [filter, reason] of REFUSED)
    await t.test(`refused: ${filter.slice(0, 60)}`, async () => {
      const long = filter.length > 5_000
      const { status, body } = long ? await w.post('/stac/search', { 'filter-lang': 'cql2-text', filter }, headers) : await asText(filter)
      assert.equal(status, 400, JSON.stringify(body))
      assert.match(JSON.stringify(body), reason)
    })
  await t.test('{"bbox": …} of the JSON', async () => {
    const within = (bbox: unknown) => asJson({ op: 's_intersects', args: [{ property: 'geometry' }, { bbox }] })
    assert.equal(idsOf(await within([9, 9, 12, 12])), 'ab')
    assert.equal(idsOf(await within([9, 9, 0, 12, 12, 5])), 'ab')
    assert.equal(idsOf(await within([49, 9, 12, 51])), 'abc', 'across the antimeridian')
    for (const wrong of [[1, 2, 3], ['a', 1, 2, 3], 'x', null]) assert.equal((await within(wrong)).status, 400, JSON.stringify(wrong))
  })
})
