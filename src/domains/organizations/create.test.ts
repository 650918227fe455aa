import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'
import { newId } from '#core/ids.ts'
import * as computeQuotas from '#model/plans/compute-quota.ts'
import { FREE_PLAN } from '#model/plans/plan.ts'
import { scene } from '../../../test/support/scene.ts'

// Goal: the creator of an organization owns it, and acts for it after the next refresh or sign-in.
test('organizations.create', async (t) => {
  const w = await world(t)
  const person = await w.person()
  const profile = {
    description: 'd',
    website: 'https://x.example',
    industry: 'i',
    size: '1-10',
    country: 'AU',
    abn: '1',
    tax_number: '2',
    billing_email: 'b@x.example',
    billing_admin_id: person.id,
    billing_address: { lines: ['1 Road'], city: 'Perth' },
  }

  await t.test('keeps the profile; enterprise billing is only requested', async () => {
    const organization = await w.ok(person.token, 'organizations.create', { name: 'Küste & Söhne', ...profile, enterprise_billing: true })
    for (const [field, value] of Object.entries(profile)) assert.deepEqual(organization[field], value, field)
    assert.match(organization.slug, /^ku-ste-so-hne-[0-9a-f]{6}$/)
    assert.deepEqual(
      [organization.plan, organization.enterprise_billing, organization.enterprise_billing_status],
      ['free', false, 'requested'],
    )
    const refreshed = (await w.post('/auth/refresh', { refresh_token: person.refreshToken })).body
    assert.equal(refreshed.organization_id, organization.id)
    assert.equal((await w.ok(refreshed.access_token, 'organizations.get')).id, organization.id)
    const me = (await w.request('GET', '/auth/me', { headers: { authorization: `Bearer ${refreshed.access_token}` } })).body
    const unlimited = { spend_limit_credits: null, per_order_limit_credits: null, spent_30d_credits: 0, requires_two_factors: false }
    assert.deepEqual(me.organizations, [{ id: organization.id, name: 'Küste & Söhne', role: 'owner', ...unlimited }])
  })

  await t.test('names need not be unique, and one person can create several', async () => {
    const two = [
      await w.ok(person.token, 'organizations.create', { name: 'Same' }),
      await w.ok(person.token, 'organizations.create', { name: 'Same' }),
    ]
    assert.notEqual(two[0].slug, two[1].slug)
    assert.equal((await w.signIn(person, two[1].id)).token.length > 0, true)
  })

  await t.test('refusals', async () => {
    for (const input of [
      {},
      { name: '' },
      { name: 'x'.repeat(201) },
      { name: 'x', billing_address: 'text' },
      { name: 'x', billing_admin_id: 'x' },
    ])
      assert.equal((await w.call(person.token, 'organizations.create', input)).status, 422, JSON.stringify(input))
    const { status, body } = await w.call(person.token, 'organizations.create', { name: 'x', billing_admin_id: newId() })
    assert.equal(status, 422)
    assert.equal(body.errors[0].field, 'billing_admin_id')
    const { status: service } = await w.call(await w.serviceToken(), 'organizations.create', { name: 'x' })
    assert.equal(service, 403, 'an owner is a person')
  })
})

// Goal: deleting a free organization and creating another does not give a second free quota in a month.
test('free quotas after an organization is deleted', async (t) => {
  const w = await world(t)
  const first = await w.organization()
  const take = (organizationId: string) =>
    w.db.transaction().execute((tx) => computeQuotas.take(tx, organizationId, 'processing_jobs', w.clock.now()))
  for (let nth = 0; nth < FREE_PLAN.processingJobs - 1; nth++) await take(first.id)
  const deleted = await w.post(
    '/auth/delete-organization',
    { organization_id: first.id, password: first.owner.password },
    { authorization: `Bearer ${first.owner.token}` },
  )
  assert.equal(deleted.status, 204)
  const { id } = await w.ok((await w.signIn(first.owner)).token, 'organizations.create', { name: 'Again' })
  const founder = await w.signIn(first.owner, id)
  const { id: project_id } = await w.ok(founder.token, 'projects.create', { name: 'Again' })
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: id, credits: 10_000, reason: 'for a test' })
  const itemId = (await w.upload(founder.token, project_id, { 'a.tif': await scene({ width: 64, height: 64 }) })).body.item_ids[0]
  const job = (token = founder.token) =>
    w.call(token, 'processing.create', { project_id, job_type_id: 'band_math', input_params: { item_id: itemId, expression: 'b1*2' } })

  await t.test('jobs that the deleted organization started count in the same month', async () => {
    assert.equal((await job()).status, 200, 'one was left')
    const { status, body } = await job()
    assert.deepEqual(
      [status, body.code, body.used, body.limit],
      [402, 'compute-quota-exceeded', FREE_PLAN.processingJobs, FREE_PLAN.processingJobs],
    )
    assert.match(body.detail, /organizations that their creator deleted this month/)
  })

  await t.test('others have their own, and the next month is new', async () => {
    await take((await w.organization()).id)
    w.clock.advance({ days: 31 })
    assert.equal((await job((await w.signIn(founder, id)).token)).status, 200)
  })
})
