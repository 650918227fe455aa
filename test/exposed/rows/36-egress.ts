import assert from 'node:assert/strict'
import { createOwner, ok } from '../../support/client.ts'
import { scene } from '../../support/scene.ts'
import { until } from '../../support/service.ts'
import type { ExposedRow } from '../row.ts'

const OCTETS = { 'content-type': 'application/octet-stream' }
const TIMES = 10

export default {
  row: 36,
  async attempt({ service: { baseUrl, storeUrl } }) {
    const { token } = await createOwner(baseUrl, 'row-36@example.com')
    const atStore = (address: string) => storeUrl + new URL(address).pathname + new URL(address).search
    const { id: project_id } = await ok(baseUrl, token, 'projects.create', { name: 'x' })
    const { id: upload_id } = await ok(baseUrl, token, 'uploads.initiate', { project_id, total_bytes: 0 })
    const { upload_url } = await ok(baseUrl, token, 'uploads.signed_url', { upload_id, file_name: 'a.tif' })
    assert.equal((await fetch(atStore(upload_url), { method: 'PUT', body: Buffer.from(await scene()), headers: OCTETS })).status, 200)
    const { item_ids } = await ok(baseUrl, token, 'uploads.complete', { upload_id })
    const item_id: string = item_ids[0]
    const asset = await until('the file to be readable', async () => {
      const assets: { id: string; key: string }[] = await ok(baseUrl, token, 'items.list_assets', { item_id })
      return assets.find(({ key }) => key === 'data') ?? assets[0]
    })
    const { url } = await ok(baseUrl, token, 'items.asset.download', { item_id, asset_id: asset.id })
    const [size] = await Promise.all(
      Array.from({ length: TIMES }, async () => (await (await fetch(atStore(url))).arrayBuffer()).byteLength),
    )
    const counted = await until('the store to count', async () => {
      const { egress_bytes_last_24h } = await ok(baseUrl, token, 'usage.current')
      return egress_bytes_last_24h >= TIMES * size! && (egress_bytes_last_24h as number)
    })
    assert.equal(counted, TIMES * size!)
  },
} satisfies ExposedRow
