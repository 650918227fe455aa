/** Which open scenes a project has saved, so that each is saved once, however often and by whomever. */
import { sql } from 'kysely'
import { fingerprint } from '#core/canonical.ts'
import type { JobStatus } from '#core/vocabulary.ts'
import type { Db, Tx } from '#db/tables.ts'

/** A scene and the way it is saved. */
export interface SceneKey {
  hostName: string
  collection: string
  sceneId: string
  /** `reference`, or `copy` with a hash of the area and the files. */
  variant: string
}

export const REFERENCE = 'reference'

/** The same files of the same area are copied once, whatever the order in which they are named. */
export const copyVariant = (copied: { assets: readonly string[]; area: unknown }): string =>
  `copy ${fingerprint({ assets: copied.assets.toSorted(), area: copied.area }).toString('hex')}`

interface Owner {
  organizationId: string
  projectId: string
  savedSearchId: string | null
  now: Date
}

interface SavedScene {
  itemId: string | null
  isItemDeleted: boolean | null
  jobId: string | null
  /** Null if the job was deleted. */
  jobStatus: JobStatus | null
  /** Whether the item that the job created still exists. */
  hasJobItem: boolean
}

export async function find(db: Db, projectId: string, key: SceneKey): Promise<SavedScene | null> {
  const { rows } = await sql<SavedScene>`
    select s.item_id as "itemId", i.deleted_at is not null as "isItemDeleted", s.job_id as "jobId", j.status as "jobStatus",
      exists (select from item c where c.org_id = s.org_id and c.id = any(j.output_item_ids) and c.deleted_at is null) as "hasJobItem"
    from saved_scene s
    left join item i on i.id = s.item_id and i.org_id = s.org_id
    left join processing_job j on j.id = s.job_id
    where s.project_id = ${projectId} and s.host_name = ${key.hostName} and s.collection = ${key.collection}
      and s.scene_id = ${key.sceneId} and s.variant = ${key.variant}
  `.execute(db)
  return rows[0] ?? null
}

/** The ID of the item or job, unless the item was deleted, or the job ended without one. */
export function idOf({ itemId, isItemDeleted, jobId, jobStatus, hasJobItem }: SavedScene): string | null {
  if (itemId !== null) return isItemDeleted ? null : itemId
  if (jobStatus === null || jobStatus === 'failed' || jobStatus === 'cancelled') return null
  return jobStatus !== 'completed' || hasJobItem ? jobId : null
}

/** The caller has locked the project. Replaces a row whose item was deleted or whose job failed. */
export async function put(tx: Tx, owner: Owner, key: SceneKey, saved: { itemId: string } | { jobId: string }): Promise<void> {
  const created = { item_id: 'itemId' in saved ? saved.itemId : null, job_id: 'jobId' in saved ? saved.jobId : null, created_at: owner.now }
  await tx
    .insertInto('saved_scene')
    .values({
      project_id: owner.projectId,
      host_name: key.hostName,
      collection: key.collection,
      scene_id: key.sceneId,
      variant: key.variant,
      org_id: owner.organizationId,
      saved_search_id: owner.savedSearchId,
      ...created,
    })
    .onConflict((conflict) => conflict.columns(['project_id', 'host_name', 'collection', 'scene_id', 'variant']).doUpdateSet(created))
    .execute()
}

const nameOf = ({ hostName, collection, sceneId }: Omit<SceneKey, 'variant'>): string => JSON.stringify([hostName, collection, sceneId])

/**
 * Those among these scenes that the project has never saved in any way. A scene whose item was deleted counts as saved: a search must
 * not add again what a user removed.
 */
export async function neverSaved<T extends Omit<SceneKey, 'variant'>>(db: Db, projectId: string, scenes: readonly T[]): Promise<T[]> {
  if (scenes.length === 0) return []
  const { rows } = await sql<Omit<SceneKey, 'variant'>>`
    select s.host_name as "hostName", s.collection, s.scene_id as "sceneId"
    from saved_scene s
    join unnest(${scenes.map(({ hostName }) => hostName)}::text[], ${scenes.map(({ collection }) => collection)}::text[],
      ${scenes.map(({ sceneId }) => sceneId)}::text[]) as w (host_name, collection, scene_id) using (host_name, collection, scene_id)
    where s.project_id = ${projectId}
  `.execute(db)
  const saved = new Set(rows.map(nameOf))
  return scenes.filter((scene) => !saved.has(nameOf(scene)))
}

/** How many scenes a search has added since a time. */
export async function countSince(db: Db, savedSearchId: string, since: Date): Promise<number> {
  const { count } = await db
    .selectFrom('saved_scene')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('saved_search_id', '=', savedSearchId)
    .where('created_at', '>=', since)
    .executeTakeFirstOrThrow()
  return count
}
