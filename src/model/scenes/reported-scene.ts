/** Which scenes a saved search has reported, so that nobody is told about a scene twice. */
import { sql } from 'kysely'
import type { Db, Tx } from '#db/tables.ts'
import type { SavedSearch } from './saved-search.ts'

interface SceneName {
  hostName: string
  collection: string
  sceneId: string
}

type Search = Pick<SavedSearch, 'id' | 'organizationId'>

const nameOf = ({ hostName, collection, sceneId }: SceneName): string => JSON.stringify([hostName, collection, sceneId])

const columns = (scenes: readonly SceneName[]) => sql`
  unnest(${scenes.map(({ hostName }) => hostName)}::text[], ${scenes.map(({ collection }) => collection)}::text[],
    ${scenes.map(({ sceneId }) => sceneId)}::text[]) as w (host_name, collection, scene_id)
`

/** Those that the search has not reported, each once. */
export async function unreported<T extends SceneName>(db: Db, { id, organizationId }: Search, scenes: readonly T[]): Promise<T[]> {
  if (scenes.length === 0) return []
  const { rows } = await sql<SceneName>`
    select r.host_name as "hostName", r.collection, r.scene_id as "sceneId"
    from reported_scene r join ${columns(scenes)} using (host_name, collection, scene_id)
    where r.org_id = ${organizationId} and r.saved_search_id = ${id}
  `.execute(db)
  const known = new Set(rows.map(nameOf))
  return [...new Map(scenes.map((scene) => [nameOf(scene), scene])).values()].filter((scene) => !known.has(nameOf(scene)))
}

/** Returns the scenes that were not there: a concurrent run waits here, and then has nothing to report. */
export async function insert<T extends SceneName>(tx: Tx, { id, organizationId }: Search, scenes: readonly T[], now: Date): Promise<T[]> {
  const { rows } = await sql<SceneName>`
    insert into reported_scene (org_id, saved_search_id, host_name, collection, scene_id, created_at)
    select ${organizationId}::uuid, ${id}::uuid, w.host_name, w.collection, w.scene_id, ${now}::timestamptz from ${columns(scenes)}
    on conflict do nothing
    returning host_name as "hostName", collection, scene_id as "sceneId"
  `.execute(tx)
  const inserted = new Set(rows.map(nameOf))
  return scenes.filter((scene) => inserted.has(nameOf(scene)))
}

/** How many scenes a search has reported since a time. */
export async function countSince(db: Db, { id, organizationId }: Search, since: Date): Promise<number> {
  const { count } = await db
    .selectFrom('reported_scene')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('org_id', '=', organizationId)
    .where('saved_search_id', '=', id)
    .where('created_at', '>=', since)
    .executeTakeFirstOrThrow()
  return count
}
