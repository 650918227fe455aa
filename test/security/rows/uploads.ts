import { scene } from '../../support/scene.ts'
import type { Org, World } from '../../support/world.ts'
import { other, otherProject } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { CHANGES_A_PROJECT, READS_A_PROJECT } from '../statuses.ts'

const otherUpload = other('upload_id')
const smallCog = scene({ width: 16, height: 16 })
const upload = async (w: World, org: Org) => ({
  upload_id: (await w.ok(org.owner.token, 'uploads.initiate', { project_id: org.projectId, total_bytes: 100 })).id as string,
})
const uploaded = async (w: World, org: Org) => {
  const session = await upload(w, org)
  await w.put((await w.ok(org.owner.token, 'uploads.signed_url', { ...session, file_name: 'a.tif' })).upload_url, await smallCog)
  return session
}

export const rows: Rows = {
  'uploads.complete': { ...CHANGES_A_PROJECT, input: uploaded, missing: otherUpload, breaks: 'table asset' },
  'uploads.fail': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => ({ ...(await upload(w, org)), error_message: 'x' }),
    missing: otherUpload,
    breaks: 'column storage_account.reserved_bytes',
  },
  'uploads.initiate': {
    ...CHANGES_A_PROJECT,
    input: (_w, org) => ({ project_id: org.projectId, total_bytes: 100 }),
    missing: otherProject,
    breaks: 'column storage_account.reserved_bytes',
  },
  'uploads.list': {
    ...READS_A_PROJECT,
    input: (_w, org) => ({ project_id: org.projectId }),
    missing: otherProject,
    breaks: 'table upload_file',
  },
  'uploads.parts': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => ({ ...(await upload(w, org)), file_name: 'a.tif', size_bytes: 100 }),
    missing: otherUpload,
    breaks: 'table upload_file',
  },
  'uploads.progress': { ...CHANGES_A_PROJECT, input: upload, missing: otherUpload, breaks: 'table upload_file' },
  'uploads.signed_url': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => ({ ...(await upload(w, org)), file_name: 'a.tif' }),
    missing: otherUpload,
    breaks: 'table upload_file',
  },
}
