import { newId } from '#core/ids.ts'
import type { Org, World } from '../../support/world.ts'
import { item, other } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { NOBODY } from '../statuses.ts'

const AREA = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 0],
    ],
  ],
}

/** A clip that has ended without a file. */
const clip = async (w: World, org: Org) => {
  const [id, at] = [newId(), w.clock.now()]
  await w.db
    .insertInto('processing_job')
    .values({
      id,
      org_id: org.id,
      project_id: org.projectId,
      job_type: 'cog_clip',
      status: 'completed',
      input_params: '{}',
      reserved_credits: 5,
      captured_credits: 5,
      timeout_seconds: 60,
      created_at: at,
      updated_at: at,
      completed_at: at,
    })
    .execute()
  return { job_id: id }
}
const otherJob = other('job_id')

/** The clip user, staff and the platform hold the scope; staff act for no organization. */
const READS_A_CLIP = {
  a: `${NOBODY} | 403 403 403 200 | 403 403 | 403 403 403 | 403 200 200 404`,
  b: `${NOBODY} | 403 403 403 404 | 403 403 | 403 403 403 | 403 200 404 404`,
}
const READS_AREAS = { a: `${NOBODY} | 403 403 403 200 | 403 403 | 403 403 403 | 403 200 200 200` }
const FINDS_NO_AREA = { a: READS_AREAS.a.replaceAll('200', '404') }

export const rows: Rows = {
  'clip.area.metadata': { ...FINDS_NO_AREA, input: () => ({ area: 'nowhere' }), breaks: null },
  'clip.area.mosaics': { ...FINDS_NO_AREA, input: () => ({ area: 'nowhere' }), breaks: null },
  'clip.areas.list': { ...READS_AREAS, input: () => ({}), breaks: null },
  'clip.create_from_area': {
    // The clip user may only look at the project; whoever may change it finds no such area.
    a: `${NOBODY} | 403 403 403 403 | 403 403 | 403 403 403 | 403 404 404 404`,
    b: `${NOBODY} | 403 403 403 404 | 403 403 | 403 403 403 | 403 404 404 404`,
    input: (_w, org) => ({ area: 'nowhere', project_id: org.projectId, aoi_geometry: AREA }),
    missing: other('project_id'),
    breaks: 'table project',
  },
  'clip.create_from_item': {
    // Whoever may is told that the file lies on a host that is not an allowed one.
    a: `${NOBODY} | 400 400 403 403 | 404 404 | 403 403 400 | 403 400 400 404`,
    b: `${NOBODY} | 404 404 404 404 | 400 404 | 403 403 404 | 403 400 404 404`,
    input: async (w, org) => ({ source_item_id: (await item(w, org)).item_id, project_id: org.projectId, aoi_geometry: AREA }),
    missing: other('project_id'),
    breaks: 'table item',
  },
  'clip.job.delete': {
    a: `${NOBODY} | 403 403 403 403 | 403 403 | 403 403 403 | 403 200 200 404`,
    b: `${NOBODY} | 403 403 403 404 | 403 403 | 403 403 403 | 403 200 404 404`,
    input: clip,
    missing: otherJob,
    breaks: 'table processing_job',
  },
  'clip.job.download': {
    a: READS_A_CLIP.a.replaceAll('200', '404'),
    b: READS_A_CLIP.b.replaceAll('200', '404'),
    input: async (w, org) => ({ ...(await clip(w, org)), mosaic_type: 'data' }),
    missing: otherJob,
    breaks: 'table processing_job',
  },
  'clip.job.downloads': { ...READS_A_CLIP, input: clip, missing: otherJob, breaks: 'table processing_job' },
  'clip.job.get': { ...READS_A_CLIP, input: clip, missing: otherJob, breaks: 'table processing_job' },
  'clip.job.tile_info': { ...READS_A_CLIP, input: clip, missing: otherJob, breaks: 'table processing_job' },
  'clip.jobs.list': {
    a: `${NOBODY} | 403 403 403 200 | 403 403 | 403 403 403 | 403 403 200 403`,
    input: () => ({}),
    breaks: 'table processing_job',
  },
}
