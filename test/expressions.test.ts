// Goal: band math has the same maximum length everywhere.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_CHARACTERS } from '#raster/expression/index.ts'
import { operations } from '#registry.ts'
import { rasterItem } from './support/layers.ts'
import { scene, tileAt } from './support/scene.ts'
import { world } from './support/world.ts'

interface Shape {
  properties?: Record<string, Shape>
  anyOf?: Shape[]
  maxLength?: number
}

/** Fields of band math within a shape, each with the length that it may have. */
function* fields(shape: Shape, at: string): Generator<readonly [string, number]> {
  for (const branch of [shape, ...(shape.anyOf ?? [])])
    for (const [name, field] of Object.entries(branch.properties ?? {})) {
      const length = [field, ...(field.anyOf ?? [])].find(({ maxLength }) => maxLength !== undefined)?.maxLength
      if (/^(expression|formula)$/.test(name)) yield [`${at}.${name}`, length ?? 0]
      yield* fields(field, `${at}.${name}`)
    }
}

test('band math of 1,000 characters', async (t) => {
  await t.test('every operation with an expression accepts it', () => {
    const expressions = [...operations.values()].flatMap((op) => [...fields(op.input as Shape, op.id)])
    assert.ok(expressions.length > 12, String(expressions.length))
    for (const [where, length] of expressions) assert.ok(length >= MAX_CHARACTERS, `${where} takes ${length}`)
  })

  await t.test('it is rendered, evaluated and saved; one more character is rejected', async () => {
    const w = await world(t)
    const org = await w.organization()
    const item_id = await rasterItem(w, org, [{ bytes: await scene() }])
    // As people write them: many short terms, and few long ones.
    const dense = `b1${'+b2'.repeat(332)}+1`
    const weighted = Array.from({ length: 40 }, (_, k) => `0.${k}*(b4-b3)/(b4+b3+1)`).join('+')
    const written = [dense, `${weighted}${' '.repeat(MAX_CHARACTERS - weighted.length - 2)}+1`]
    for (const expression of written) {
      assert.equal(expression.length, MAX_CHARACTERS)
      await w.ok(org.owner.token, 'items.tile.statistics', { item_id, expression })
      const tile = { item_id, ...tileAt(151.15, -33.1, 12), format: 'png', expression, rescale: '0,100000' }
      assert.equal((await w.call(org.owner.token, 'items.tile.render', tile)).status, 200)
    }
    const spaced = (length: number) => `b1${' '.repeat(length - 5)}+b2`
    const config = (expression: string) => ({ item_id, name: 'Long', type: 'expression', config: { expression, rescale: '0,1' } })
    for (const length of [513, MAX_CHARACTERS]) {
      const expression = spaced(length)
      await w.ok(org.owner.token, 'items.tile.statistics', { item_id, expression })
      await w.ok(org.owner.token, 'items.point', { item_id, longitude: 151.1, latitude: -33.1, expression })
      await w.ok(org.owner.token, 'visualization.profile.create', { ...config(expression), name: `Long ${length}` })
    }
    const long = spaced(MAX_CHARACTERS + 1)
    assert.equal((await w.call(org.owner.token, 'items.tile.statistics', { item_id, expression: long })).status, 422)
    assert.equal((await w.call(org.owner.token, 'visualization.profile.create', config(long))).status, 422)
  })
})
