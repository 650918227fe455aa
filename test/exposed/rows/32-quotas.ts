import assert from 'node:assert/strict'
import { call, createOwner, ok } from '../../support/client.ts'
import type { ExposedRow } from '../row.ts'

const OCTETS = { 'content-type': 'application/octet-stream' }
const FREE_ORGANIZATIONS = 3
const TOO_MANY_PROPERTIES = 256 * 1024

export default {
  row: 32,
  async attempt({ service: { baseUrl, storeUrl } }) {
    const { token } = await createOwner(baseUrl, 'row-32@example.com')
    const { id: project_id } = await ok(baseUrl, token, 'projects.create', { name: 'x' })
    const { id: upload_id } = await ok(baseUrl, token, 'uploads.initiate', { project_id, total_bytes: 0 })
    const { upload_url } = await ok(baseUrl, token, 'uploads.signed_url', { upload_id, file_name: 'a.tif' })
    const { pathname, search } = new URL(upload_url)
    const put = await fetch(storeUrl + pathname + search, { method: 'PUT', body: Buffer.alloc(1024), headers: OCTETS })
    assert.equal(put.status, 200, await put.text())
    const { storage_reserved_bytes } = await ok(baseUrl, token, 'usage.current')
    assert.equal(storage_reserved_bytes, 1024, 'what comes counts, whatever was announced')
    const large = { project_id, type: 'clip', name: 'n', properties: { text: 'x'.repeat(TOO_MANY_PROPERTIES) } }
    assert.ok([413, 422].includes((await call(baseUrl, token, 'items.create', large)).status))
    const more: number[] = []
    for (let n = 0; n < FREE_ORGANIZATIONS; n++)
      more.push((await call(baseUrl, token, 'organizations.create', { name: `more ${n}` })).status)
    assert.deepEqual([more.filter((status) => status === 200).length, more.at(-1)], [FREE_ORGANIZATIONS - 1, 400])
  },
} satisfies ExposedRow
