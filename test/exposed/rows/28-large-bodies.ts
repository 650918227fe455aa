import assert from 'node:assert/strict'
import { createOwner } from '../../support/client.ts'
import type { ExposedRow } from '../row.ts'

const TINY_KEYS = 900_000

export default {
  row: 28,
  async attempt({ service: { baseUrl } }) {
    const { token } = await createOwner(baseUrl, 'row-28@example.com')
    const body = `{${Array.from({ length: TINY_KEYS }, (_, n) => `"k${n}":1`).join(',')}}`
    const send = async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(baseUrl + path, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })
      await response.arrayBuffer()
      return response.status
    }
    assert.equal(await send('/auth/sign-in'), 413)
    assert.equal(await send('/v1/op/share.link.validate'), 413)
    assert.equal(await send('/v1/op/projects.list'), 401, 'who has no credential is refused before the body is read')
    assert.equal(await send('/v1/op/projects.list', { authorization: `Bearer ${token}` }), 413)
  },
} satisfies ExposedRow
