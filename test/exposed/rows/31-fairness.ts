import assert from 'node:assert/strict'
import { call, createOwner, ok } from '../../support/client.ts'
import type { ExposedRow } from '../row.ts'

const AT_ONCE = 60
const ITEMS = 300

/** How much slower is `bench -- fairness` to say; here it must only be served, and whoever asks for too much is told when to come back. */
export default {
  row: 31,
  async attempt({ service: { baseUrl } }) {
    const hostile = await createOwner(baseUrl, 'row-31@example.com')
    const good = await createOwner(baseUrl, 'row-31-good@example.com')
    const { id: project_id } = await ok(baseUrl, hostile.token, 'projects.create', { name: 'x' })
    const feature = (n: number) => ({ type: 'Feature', id: `row-31-${n}`, geometry: null, properties: { datetime: null }, assets: {} })
    const features = { type: 'FeatureCollection', features: Array.from({ length: ITEMS }, (_, n) => feature(n)) }
    await call(baseUrl, hostile.token, 'items.import_stac', { project_id, features })
    const calls = Array.from({ length: AT_ONCE }, () => call(baseUrl, hostile.token, 'items.list', { project_id, limit: ITEMS }))
    const served = await call(baseUrl, good.token, 'projects.list', {})
    assert.equal(served.status, 200)
    for (const { status, headers } of await Promise.all(calls)) {
      assert.ok([200, 429].includes(status), String(status))
      if (status === 429) assert.ok(Number(headers.get('retry-after')) > 0)
    }
  },
} satisfies ExposedRow
