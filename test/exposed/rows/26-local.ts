import assert from 'node:assert/strict'
import { call, createOwner, post } from '../../support/client.ts'
import { DEMO_EMAIL, DEMO_PASSWORD } from '../../../sandbox/demo/account.ts'
import type { ExposedRow } from '../row.ts'

export default {
  row: 26,
  async attempt({ service: { baseUrl, output }, env, demo }) {
    const operator = { email: env['SYSTEM_ADMIN_EMAILS']!, password: 'long enough', name: 'x' }
    assert.equal((await post(baseUrl, '/auth/sign-up', operator)).status, 403)
    assert.equal((await post(baseUrl, '/auth/sign-in', { email: DEMO_EMAIL, password: DEMO_PASSWORD })).status, 401)
    for (const credential of [demo.token, demo.key]) assert.equal((await call(baseUrl, credential, 'projects.list', {})).status, 401)
    assert.match(output(), /demo account .* is disabled/)
    const owner = await createOwner(baseUrl, 'row-26@example.com')
    const topUp = await call(baseUrl, owner.token, 'billing.topup', { aud_cents: 10_000 }, { 'idempotency-key': 'k' })
    assert.equal(topUp.status, 503)
    assert.equal((await call(baseUrl, owner.token, 'billing.credits.grant', { organization_id: owner.organizationId })).status, 403)
    const metrics = async (headers: Record<string, string>) => (await fetch(`${baseUrl}/metrics`, { headers })).status
    assert.equal(await metrics({}), 401)
    assert.equal(await metrics({ 'x-forwarded-for': '127.0.0.1' }), 401)
    assert.equal(await metrics({ authorization: `Bearer ${env['METRICS_TOKEN']}` }), 200)
  },
} satisfies ExposedRow
