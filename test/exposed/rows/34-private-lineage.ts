import assert from 'node:assert/strict'
import { call, createOwner, ok } from '../../support/client.ts'
import { joined } from '../member.ts'
import type { ExposedRow } from '../row.ts'

export default {
  row: 34,
  async attempt({ service: { baseUrl } }) {
    const owner = await createOwner(baseUrl, 'row-34@example.com')
    const member = await joined(baseUrl, owner, 'row-34-member@example.com')
    const hidden = await ok(baseUrl, owner.token, 'projects.create', { name: 'Hidden', visibility: 'private' })
    const shown = await ok(baseUrl, owner.token, 'projects.create', { name: 'Shown' })
    const source = await ok(baseUrl, owner.token, 'items.create', { project_id: hidden.id, type: 'user_raster', name: 'Secret source' })
    const copy = await ok(baseUrl, owner.token, 'items.duplicate', { item_id: source.id, target_project_id: shown.id })
    const lineage = await call(baseUrl, member, 'provenance.get', { entity_type: 'item', entity_id: copy.id, direction: 'both' })
    assert.equal(lineage.status, 200, lineage.text)
    for (const secret of [source.id, hidden.id]) assert.ok(!lineage.text.includes(secret))
  },
} satisfies ExposedRow
