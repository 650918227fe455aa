/** Uploads a file to a running service as anybody does. */
import { ok } from './client.ts'
import { until } from './service.ts'

interface Upload {
  baseUrl: string
  token: string
  projectId: string
  bytes: Uint8Array
}

/** The item, once its file can be read. */
export async function uploadedItem({ baseUrl, token, projectId, bytes }: Upload): Promise<string> {
  const { id: upload_id } = await ok(baseUrl, token, 'uploads.initiate', { project_id: projectId, total_bytes: bytes.length })
  const place = { upload_id, file_name: 'scene.tif', content_type: 'image/tiff' }
  const { upload_url } = await ok(baseUrl, token, 'uploads.signed_url', place)
  const put = await fetch(upload_url, { method: 'PUT', headers: { 'content-type': 'image/tiff' }, body: bytes as never })
  if (put.status !== 200) throw new Error(`the store answered ${put.status}`)
  const { item_ids } = await ok(baseUrl, token, 'uploads.complete', { upload_id })
  await until('the file to be ready', async () => {
    const { files } = await ok(baseUrl, token, 'uploads.progress', { upload_id })
    if (files[0].state === 'failed') throw new Error(files[0].error)
    return files[0].state === 'ready'
  })
  return item_ids[0]
}
