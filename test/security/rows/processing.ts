import { scene } from '../../support/scene.ts'
import type { Org, World } from '../../support/world.ts'
import { other, otherProject } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { ANYBODY, NOBODY, READS_A_PROJECT, READS_OWN } from '../statuses.ts'

const smallCog = scene({ width: 16, height: 16 })
const known = new WeakMap<World, Map<string, Promise<string>>>()

/** An item to work on, and an organization that can pay for it: made once for each. */
async function prepared(w: World, org: Org): Promise<string> {
  const ofWorld = known.get(w) ?? new Map<string, Promise<string>>()
  known.set(w, ofWorld)
  if (!ofWorld.has(org.id)) ofWorld.set(org.id, prepare(w, org))
  return await ofWorld.get(org.id)!
}

async function prepare(w: World, org: Org): Promise<string> {
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 100_000, reason: 'for a test' })
  await w.db.updateTable('organization').set({ plan_id: 'business' }).where('id', '=', org.id).execute()
  return (await w.upload(org.owner.token, org.projectId, { 'a.tif': await smallCog })).body.item_ids[0] as string
}

const params = async (w: World, org: Org) => ({ item_id: await prepared(w, org), expression: 'b1' })
const newJob = async (w: World, org: Org) => ({ project_id: org.projectId, job_type_id: 'band_math', input_params: await params(w, org) })
const job = async (w: World, org: Org) => ({
  job_id: (await w.ok(org.owner.token, 'processing.create', await newJob(w, org))).job.id as string,
})
const completed = async (w: World, org: Org) => {
  const created = await job(w, org)
  const ended = { status: 'completed' as const, completed_at: w.clock.now() }
  await w.db.updateTable('processing_job').set(ended).where('id', '=', created.job_id).execute()
  return created
}
const ofProcess = async (w: World, org: Org) => ({ process_id: 'band_math', inputs: await params(w, org) })
const otherItem = (input: object) => ({ ...input, inputs: { expression: 'b1', item_id: crypto.randomUUID() } })
const otherJob = other('job_id')

/** Editors of a project, with a credential that may launch work. */
const LAUNCHES = {
  a: `${NOBODY} | 200 200 403 403 | 404 404 | 403 403 200 | 403 200 200 404`,
  b: `${NOBODY} | 404 404 404 404 | 200 404 | 403 403 404 | 403 200 404 404`,
}
/** Resources of clips are for those who hold them by name. */
const CLIP_DESTROYS = {
  a: `${NOBODY} | 403 403 403 403 | 403 403 | 403 403 403 | 403 200 200 404`,
  b: `${NOBODY} | 403 403 403 404 | 403 403 | 403 403 403 | 403 200 404 404`,
}
const CLIP_READS = {
  a: `${NOBODY} | 403 403 403 200 | 403 403 | 403 403 403 | 403 200 200 404`,
  b: `${NOBODY} | 403 403 403 404 | 403 403 | 403 403 403 | 403 200 404 404`,
}
const ONLY_ITS_WORKER = {
  a: `${NOBODY} | 403 403 403 403 | 403 403 | 403 403 403 | 403 403 403 403`,
  b: `${NOBODY} | 403 403 403 403 | 403 403 | 403 403 403 | 403 403 403 403`,
}

export const rows: Rows = {
  'processing.catalog.estimate': { ...READS_A_PROJECT, input: ofProcess, missing: otherItem, breaks: 'table item' },
  'processing.catalog.get': { ...ANYBODY, input: () => ({ process_id: 'band_math' }), breaks: null },
  'processing.catalog.list': { ...ANYBODY, input: () => ({}), breaks: null },
  'processing.catalog.validate': { ...READS_A_PROJECT, input: ofProcess, missing: otherItem, breaks: 'table item' },
  'processing.create': { ...LAUNCHES, input: newJob, missing: otherProject, breaks: 'table processing_job' },
  'processing.create_and_dispatch': { ...LAUNCHES, input: newJob, missing: otherProject, breaks: 'table processing_job' },
  'processing.dispatch': { ...LAUNCHES, input: job, missing: otherJob, breaks: 'column processing_job.dispatched_at' },
  'processing.execute': {
    ...LAUNCHES,
    input: async (w, org) => ({ ...(await ofProcess(w, org)), workspaceId: org.projectId, wait_seconds: 0 }),
    missing: other('workspaceId'),
    breaks: 'table processing_job',
  },
  'processing.job.cancel': { ...LAUNCHES, input: job, missing: otherJob, breaks: 'table processing_job' },
  'processing.job.delete': { ...CLIP_DESTROYS, input: job, missing: otherJob, breaks: 'table processing_job' },
  'processing.job.get': { ...READS_A_PROJECT, input: job, missing: otherJob, breaks: 'table processing_job' },
  'processing.job.register': { ...ONLY_ITS_WORKER, input: job, missing: otherJob, breaks: null },
  'processing.job.tile_info': { ...CLIP_READS, input: completed, missing: otherJob, breaks: 'table processing_job' },
  'processing.job_types.list': { ...ANYBODY, input: () => ({}), breaks: null },
  'processing.jobs.list': { ...READS_OWN, input: () => ({}), breaks: 'table processing_job' },
  'processing.project_job.get': { ...READS_A_PROJECT, input: job, missing: otherJob, breaks: 'table processing_job' },
  'processing.project_jobs.list': {
    ...READS_A_PROJECT,
    input: (_w, org) => ({ project_id: org.projectId }),
    missing: otherProject,
    breaks: 'table processing_job',
  },
}
