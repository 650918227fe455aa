// Goal: the glossary names every collection, product and provider of the registry, so that a client finds what it can order.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'

test('glossary', async (t) => {
  const w = await world(t)
  const { owner } = await w.organization()
  const call = (id: string, input: object = {}) => w.ok(owner.token, id, input)
  const names = ({ content }: { content: { name: string }[] }) => content.map(({ name }) => name)

  await t.test('collections by type and use, page by page', async () => {
    const all = await call('glossary.collections.list', { size: 100 })
    assert.ok(all.content.every(({ simulated }: { simulated: boolean }) => simulated))
    assert.deepEqual(names(await call('glossary.collections.list', { type: 'TASKING' })), ['sandbox-vhr'])
    const paged = [0, 1, 2, 3].map((page) => call('glossary.collections.list', { size: 3, page }))
    assert.deepEqual((await Promise.all(paged)).flatMap(names), names(all).slice(0, 12))
    const tiles = await call('glossary.collections.list', { integrations: 'TILES_AVAILABLE', size: 100 })
    assert.ok(names(tiles).includes('sandbox-open') && !names(tiles).includes('sandbox-hr'))
    const collection = await call('glossary.collections.get', { collection_name: 'sandbox-hr' })
    assert.deepEqual(
      collection.dataProducts.map(({ name }: { name: string }) => name),
      ['sandbox-hr-archive', 'sandbox-hr-analytic'],
    )
  })

  await t.test('products with the schema of their parameters', async () => {
    const product = await call('glossary.data_products.get', { data_product_name: 'sandbox-vhr-tasking' })
    assert.equal(product.type, 'TASKING')
    assert.deepEqual(product.schema.required, ['acquisitionStart', 'acquisitionEnd'])
    assert.deepEqual(await call('glossary.data_products.get', { data_product_name: product.id }), product)
    assert.deepEqual((await call('glossary.data_products.list', { dataProductId: product.id })).content, [product])
    assert.equal((await w.call(owner.token, 'glossary.data_products.get', { data_product_name: 'x' })).status, 404)
  })

  await t.test('providers by role', async () => {
    const hosts = await call('glossary.providers.list', { role: 'HOST', sort: 'name,desc' })
    assert.deepEqual(names(hosts), names(hosts).toSorted().reverse())
    const provider = await call('glossary.providers.get', { provider_name: 'groundtrack-sandbox' })
    assert.ok(provider.collections.length >= 8)
  })
})
