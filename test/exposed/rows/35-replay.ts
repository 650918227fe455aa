import assert from 'node:assert/strict'
import { call, createOwner } from '../../support/client.ts'
import { joined } from '../member.ts'
import type { ExposedRow } from '../row.ts'

export default {
  row: 35,
  async attempt({ service: { baseUrl } }) {
    const owner = await createOwner(baseUrl, 'row-35@example.com')
    const member = await joined(baseUrl, owner, 'row-35-member@example.com')
    const topUp = (token: string) => call(baseUrl, token, 'billing.topup', { aud_cents: 10_000 }, { 'idempotency-key': 'row-35' })
    assert.equal((await topUp(owner.token)).status, 503, 'no payments are set up')
    const replayed = await topUp(member)
    assert.equal(replayed.status, 403, 'who may call is asked before the key is looked up')
    assert.equal(replayed.headers.get('idempotent-replayed'), null)
  },
} satisfies ExposedRow
