import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'

// Goal: an organization creates, lists, updates and deletes its own formulas; built-in formulas are shared and read-only.
test('band_formulas', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const call = (id: string, input: object = {}, token = org.owner.token) => w.call(token, id, input)

  await t.test('a saved formula lists the bands it reads, in any spelling', async () => {
    const { status, body } = await call('band_formulas.create', { name: 'Vigour', formula: '(nir - red_edge1) / (NIR + rededge1)' })
    assert.equal(status, 200)
    assert.deepEqual(body.required_bands, ['REDEDGE1', 'NIR'])
    assert.deepEqual([body.colormap, body.value_range, body.category, body.is_template], ['rdylgn', [-1, 1], 'custom', false])
    assert.deepEqual((await call('band_formulas.get', { formula_id: body.id })).body, body)
  })

  await t.test('names are unique in the organization, case-insensitively, and cannot hide a built-in formula', async () => {
    assert.equal((await call('band_formulas.create', { name: 'VIGOUR', formula: 'NIR - RED' })).status, 400)
    assert.equal((await call('band_formulas.create', { name: 'ndvi', formula: 'NIR - RED' })).status, 400)
    const stranger = await w.organization()
    assert.equal((await call('band_formulas.create', { name: 'Vigour', formula: 'NIR - RED' }, stranger.owner.token)).status, 200)
  })

  await t.test('an invalid formula is rejected with the position of the error', async () => {
    for (const [formula, words] of [
      ['NIR -', /character 6|end of the expression/],
      ['NIR - GAMMA', /GAMMA/],
      ['NIR; RED', /one result/],
      ['1 + 2', /at least one band/],
    ] as const) {
      const { status, body } = await call('band_formulas.create', { name: 'Wrong', formula })
      assert.equal(status, 422, formula)
      assert.match(body.detail, words)
    }
    assert.equal((await call('band_formulas.create', { name: 'Wrong', formula: 'NIR - RED', colormap: 'nowhere' })).status, 422)
    assert.equal((await call('band_formulas.create', { name: 'Wrong', formula: 'NIR - RED', value_range: [1, 1] })).status, 422)
    assert.equal((await call('band_formulas.list', { category: 'custom', include_templates: false })).body.total, 1, 'nothing was stored')
  })

  await t.test('more than 150 built-in formulas are listed with their references, and are read-only', async () => {
    const { body } = await call('band_formulas.list')
    const templates = body.formulas.filter((formula: { is_template: boolean }) => formula.is_template)
    assert.ok(templates.length >= 150, `${templates.length}`)
    assert.ok(templates.every(({ reference }: { reference: string }) => /\d{4}$/.test(reference)))
    assert.deepEqual(
      new Set(
        (await call('band_formulas.list', { category: 'water' })).body.formulas.map((formula: { category: string }) => formula.category),
      ),
      new Set(['water']),
    )
    assert.equal((await call('band_formulas.get', { formula_id: 'NDVI' })).body.formula, '(NIR - RED) / (NIR + RED)')
    assert.equal((await call('band_formulas.update', { formula_id: 'ndvi', category: 'mine' })).status, 403)
    assert.equal((await call('band_formulas.delete', { formula_id: 'ndvi' })).status, 403)
  })

  await t.test('an update keeps omitted fields, and is validated as a whole', async () => {
    const { id } = (await call('band_formulas.list', { include_templates: false })).body.formulas[0]
    const changed = await call('band_formulas.update', { formula_id: id, formula: 'SWIR1 / NIR', description: 'Dry', value_range: null })
    assert.equal(changed.status, 200)
    assert.deepEqual(
      [changed.body.name, changed.body.required_bands, changed.body.description, changed.body.value_range],
      ['Vigour', ['NIR', 'SWIR1'], 'Dry', [-1, 1]],
    )
    assert.equal((await call('band_formulas.update', { formula_id: id, description: null })).body.description, null)
    assert.equal((await call('band_formulas.update', { formula_id: id, formula: 'NIR +' })).status, 422)
    assert.equal((await call('band_formulas.delete', { formula_id: id })).status, 200)
    assert.equal((await call('band_formulas.get', { formula_id: id })).status, 404)
  })
})
