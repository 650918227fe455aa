import assert from 'node:assert/strict'
import { createOwner, PASSWORD, post } from '../../support/client.ts'
import type { ExposedRow } from '../row.ts'

const GUESSES = 110

export default {
  row: 30,
  async attempt({ service: { baseUrl } }) {
    const { email } = await createOwner(baseUrl, 'row-30@example.com')
    const signIn = (password: string, address: string, who = email) =>
      post(baseUrl, '/auth/sign-in', { email: who, password }, { 'x-forwarded-for': address })
    for (let i = 0; i < 10; i++) assert.equal((await signIn('wrong password', `198.51.100.${i}, 203.0.113.1`)).status, 401)
    assert.equal((await signIn(PASSWORD, '203.0.113.1')).status, 429)
    const statuses = await Promise.all(
      Array.from({ length: GUESSES }, async (_, i) => (await signIn('wrong password', '203.0.113.2', `nobody-${i}@example.com`)).status),
    )
    assert.ok(statuses.includes(429))
    assert.equal((await signIn(PASSWORD, '203.0.113.3')).status, 200, 'everybody else gets in')
  },
} satisfies ExposedRow
