// Goal: an organization accepts the exact text of a licence, once, for itself; until then its products are rejected with its name.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '#core/problem.ts'
import { requireLicences } from '#model/licensing/licence.ts'
import { world } from '../../../test/support/world.ts'

test('eulas', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { vendors } = w.platform.services
  const product = vendors.product('sandbox-hr-analytic')!
  const call = (id: string, input: object = {}) => w.ok(org.owner.token, id, input)
  const refusal = async (licences = vendors) => {
    try {
      await requireLicences(w.db, org.id, product, licences)
      return null
    } catch (error) {
      assert.ok(error instanceof Problem)
      return error
    }
  }

  await t.test('licences are listed with their products, and nothing is accepted', async () => {
    const { content, totalElements } = await call('eulas.list', { sort: 'name,asc' })
    assert.equal(totalElements, vendors.licences.length)
    assert.deepEqual(
      content.map(({ name }: { name: string }) => name),
      content.map(({ name }: { name: string }) => name).toSorted(),
    )
    const [licence] = (await call('eulas.list', { term: 'ANALYSIS' })).content
    assert.equal(licence.id, product.licenceId)
    assert.deepEqual(
      licence.data_products.map(({ name }: { name: string }) => name),
      ['sandbox-hr-analytic'],
    )
    assert.equal(licence.accepted, false)
    const refused = (await refusal())!
    assert.equal(refused.status, 403)
    assert.equal(refused.title, 'Licence acceptance required')
    assert.deepEqual(refused.members, { eula_id: licence.id, document_id: licence.current_document_id, licence: licence.name })
  })

  await t.test('the current version must be accepted, not an old one, and accepting it twice changes nothing', async () => {
    const { content } = await call('eulas.documents.list', { eula_id: product.licenceId })
    const [current, old] = content
    assert.ok(current.is_current && !old.is_current && current.valid_from > old.valid_from)
    await call('eulas.document.accept', { eula_id: product.licenceId, document_id: old.id })
    assert.ok(await refusal())
    const accepted = await call('eulas.document.accept', { eula_id: product.licenceId, document_id: current.id })
    assert.equal(accepted.accepted, true)
    assert.match(accepted.text, /^1\. /)
    assert.equal(await refusal(), null)
    w.clock.advance({ minutes: 2 })
    const again = await call('eulas.document.accept', { eula_id: product.licenceId, document_id: current.id })
    assert.equal(again.accepted_at, accepted.accepted_at)
    assert.equal((await call('eulas.get', { eula_id: product.licenceId })).accepted, true)
  })

  await t.test('a changed text under the same ID is not accepted, and neither is a withdrawn licence', async () => {
    const [licence] = vendors.licences.filter(({ id }) => id === product.licenceId)
    const reworded = { ...licence!, documents: licence!.documents.map((document) => ({ ...document, text: `${document.text} And more.` })) }
    assert.ok(await refusal({ ...vendors, licence: () => reworded }))
    await call('eulas.document.accept', { eula_id: licence!.id, document_id: licence!.documents[0]!.id, is_accepted: false })
    assert.ok(await refusal())
  })

  await t.test('only a signed-in editor, admin or owner can accept or withdraw, never a key', async () => {
    const document = { eula_id: product.licenceId, document_id: vendors.licence(product.licenceId!)!.documents[0]!.id }
    const decide = (token: string, is_accepted = true) => w.call(token, 'eulas.document.accept', { ...document, is_accepted })
    const [editor, viewer] = [await w.member(org, 'editor'), await w.member(org, 'viewer')]
    const keys = [await w.key(org.owner.token, ['write']), await w.key(editor.token, ['write'])].map(({ key }) => key)
    for (const token of [viewer.token, ...keys, await w.serviceToken(org.id)]) assert.equal((await decide(token)).status, 403)
    assert.ok(await refusal(), 'nothing was accepted')
    assert.equal((await decide(editor.token)).status, 200)
    for (const token of [viewer.token, ...keys]) assert.equal((await decide(token, false)).status, 403)
    assert.equal(await refusal(), null, 'and nothing was withdrawn')
    assert.equal((await decide(org.owner.token, false)).status, 200)
  })

  await t.test('another organization has accepted nothing; unknown IDs are 404', async () => {
    const other = await w.organization()
    assert.equal((await w.ok(other.owner.token, 'eulas.get', { eula_id: product.licenceId })).accepted, false)
    assert.equal((await w.call(org.owner.token, 'eulas.get', { eula_id: 'nothing' })).status, 404)
    assert.equal((await w.call(org.owner.token, 'eulas.document.get', { eula_id: product.licenceId, document_id: 'x' })).status, 404)
  })
})
