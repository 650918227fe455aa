import assert from 'node:assert/strict'
import { createOwner, PASSWORD, post } from '../../support/client.ts'
import type { ExposedRow } from '../row.ts'

export default {
  row: 37,
  async attempt({ service: { baseUrl }, env }) {
    const { email } = await createOwner(baseUrl, 'row-37@example.com')
    const signedIn = await post(baseUrl, '/auth/sign-in', { email, password: PASSWORD, cookie: true })
    const [set] = signedIn.headers.getSetCookie()
    assert.match(set ?? '', /^__Secure-groundtrack_refresh=.*; Path=\/auth; .*HttpOnly; SameSite=Strict; Secure$/)
    const cookie = set!.split(';', 1)[0]!
    for (const origin of ['https://evil.example', baseUrl, 'null'])
      assert.equal((await post(baseUrl, '/auth/refresh', {}, { cookie, origin })).status, 403, origin)
    assert.equal((await post(baseUrl, '/v1/op/projects.list', {}, { cookie, origin: env['BASE_URL']! })).status, 401)
    assert.equal((await post(baseUrl, '/auth/refresh', {}, { cookie, origin: env['BASE_URL']! })).status, 200)
  },
} satisfies ExposedRow
