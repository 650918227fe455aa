import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import Type from 'typebox'
import { Closed, Nullable } from '#core/shapes.ts'
import { campaign } from '../../test/support/campaign.ts'
import { longListsIn, pageBytes, validatePage, type Page } from './page.ts'
import { validateOutput } from './validate.ts'

const LONG = 101

const page = fc.dictionary(
  fc.string(),
  fc.oneof(
    fc.jsonValue(),
    fc.constant(undefined),
    fc.date({ noInvalidDate: true }),
    fc.array(fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constant(undefined)), { minLength: LONG, maxLength: 3 * LONG }),
  ),
  { maxKeys: 6, noNullPrototype: true },
)

const Entry = Closed({ id: Type.Integer(), name: Type.Optional(Nullable(Type.String({ maxLength: 3 }))) })
const lists = {
  plain: Type.Array(Entry),
  optional: Type.Optional(Type.Array(Entry)),
  nullable: Nullable(Type.Array(Entry)),
  limited: Type.Array(Entry, { maxItems: 250 }),
  distinct: Type.Array(Entry, { uniqueItems: true }),
}
const Pages = Closed({ ...lists, total: Type.Integer() })
const LIST_NAMES = Object.keys(lists) as (keyof typeof lists)[]

/** Valid, but for one thing at most. */
const almostValid = fc
  .record({
    lengths: fc.tuple(...LIST_NAMES.map(() => fc.integer({ min: 0, max: 300 }))),
    fault: fc.constantFrom('none', 'none', 'entry', 'member', 'total', 'repeated', 'missing'),
    list: fc.nat(LIST_NAMES.length - 1),
    at: fc.nat(),
  })
  .map(({ lengths, fault, list, at }) => {
    const made: Record<string, unknown> = { total: 1 }
    for (const [index, name] of LIST_NAMES.entries()) made[name] = Array.from({ length: lengths[index]! }, (_, id) => ({ id, name: 'abc' }))
    const spoilt = made[LIST_NAMES[list]!] as object[]
    if (fault === 'entry' && spoilt.length > 0) spoilt[at % spoilt.length] = { id: 1, name: 'too long' }
    if (fault === 'repeated' && spoilt.length > 1) spoilt[at % spoilt.length] = spoilt[(at + 1) % spoilt.length]!
    if (fault === 'member') made['leaked'] = true
    if (fault === 'total') made['total'] = 'one'
    if (fault === 'missing') delete made[LIST_NAMES[list]!]
    return made as Page
  })

const outcome = async (check: () => unknown): Promise<string> => {
  try {
    await check()
    return 'valid'
  } catch (error) {
    return (error as Error).message
  }
}

/** As long as a part of large entries takes. */
function spin(): null {
  const { user: since } = process.threadCpuUsage()
  while (process.threadCpuUsage().user - since < 5_000);
  return null
}

// Goal: a page that is validated and written in parts has the bytes and the errors that it would have in one piece, and other work runs
// between the parts.
test('pages in parts', async (t) => {
  await t.test('the bytes are those of JSON.stringify', async () => {
    await fc.assert(
      fc.asyncProperty(page, async (output) => {
        assert.equal((await pageBytes(output, longListsIn(output))).toString(), JSON.stringify(output))
      }),
      { numRuns: campaign({ short: 200, long: 5_000 }) },
    )
  })

  await t.test('what is valid, and the error of what is not, are the same', async () => {
    await fc.assert(
      fc.asyncProperty(almostValid, async (output) => {
        const whole = await outcome(() => validateOutput(Pages, output, 'test.page'))
        assert.equal(await outcome(() => validatePage(Pages, output, longListsIn(output), 'test.page')), whole)
      }),
      { numRuns: campaign({ short: 60, long: 1_000 }) },
    )
  })

  await t.test('other work runs between the parts', async () => {
    const output = { items: Array.from({ length: 500 }, (_, n) => (n % 100 === 0 ? { toJSON: spin } : n)) }
    let turns = 0
    let isDone = false
    const count = (): void => {
      turns++
      if (!isDone) setImmediate(count)
    }
    setImmediate(count)
    await pageBytes(output, longListsIn(output))
    isDone = true
    assert.ok(turns >= 5, `${turns} turns of the loop`)
  })
})
