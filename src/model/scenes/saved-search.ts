/** Saved searches: what they look for, and how far their background runs have come. */
import { sql } from 'kysely'
import { isUuid, newId } from '#core/ids.ts'
import type { Principal } from '#core/principal.ts'
import { notFound, problem } from '#core/problem.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { AutoAdd, SourceProgress } from '#db/tables/scenes.ts'
import * as projects from '#model/identity/project.ts'

export type { AutoAdd }

const COLUMNS = [
  'id',
  'org_id as organizationId',
  'project_id as projectId',
  'user_id as userId',
  'created_by as createdBy',
  'name',
  'area',
  'source_ids as sourceIds',
  'collections',
  'max_cloud_cover as maxCloudCover',
  'date_from as dateFrom',
  'auto_add as autoAdd',
  'is_active as isActive',
  'sources',
  'last_run_at as lastRunAt',
  'last_error as lastError',
  'next_run_at as nextRunAt',
  'display',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const

export type SavedSearch = Row<'saved_search', typeof COLUMNS>

/** Each is run every hour, so their number is limited. */
const MAX_PER_ORGANIZATION = 50

export interface SearchTerms {
  name: string
  area: Record<string, unknown>
  sourceIds: string[] | null
  collections: string[] | null
  maxCloudCover: number | null
  dateFrom: Date
  autoAdd: AutoAdd | null
  isActive: boolean
  /** Settings of clients. */
  display: { name: string; value: string }[] | null
}

const values = (terms: Partial<SearchTerms>) => ({
  ...(terms.name === undefined ? {} : { name: terms.name }),
  ...(terms.area === undefined ? {} : { area: JSON.stringify(terms.area) }),
  ...(terms.sourceIds === undefined ? {} : { source_ids: terms.sourceIds }),
  ...(terms.collections === undefined ? {} : { collections: terms.collections }),
  ...(terms.maxCloudCover === undefined ? {} : { max_cloud_cover: terms.maxCloudCover }),
  ...(terms.dateFrom === undefined ? {} : { date_from: terms.dateFrom }),
  ...(terms.autoAdd === undefined ? {} : { auto_add: terms.autoAdd && JSON.stringify(terms.autoAdd) }),
  ...(terms.isActive === undefined ? {} : { is_active: terms.isActive }),
  ...(terms.display === undefined ? {} : { display: terms.display && JSON.stringify(terms.display) }),
})

/** 400 if the organization has too many. The lock keeps concurrent calls within the limit. */
export async function insert(tx: Tx, principal: Principal, project: projects.Project, terms: SearchTerms, now: Date): Promise<SavedSearch> {
  const { organizationId } = project
  await sql`select pg_advisory_xact_lock(hashtextextended(${`saved searches ${organizationId}`}, 0))`.execute(tx)
  const { used } = await tx
    .selectFrom('saved_search')
    .select((e) => e.fn.countAll<number>().as('used'))
    .where('org_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  if (used >= MAX_PER_ORGANIZATION)
    throw problem(
      'bad-request',
      `This organization has ${used} of ${MAX_PER_ORGANIZATION} saved searches. Delete one you no longer need.`,
      {
        members: { used, limit: MAX_PER_ORGANIZATION },
      },
    )
  return await tx
    .insertInto('saved_search')
    .values({
      ...(values(terms) as Required<ReturnType<typeof values>>),
      id: newId(),
      org_id: organizationId,
      project_id: project.id,
      user_id: principal.userId,
      created_by: principal.kind === 'user' ? principal.userId : null,
      sources: '{}',
      next_run_at: now,
      created_at: now,
      updated_at: now,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

/** It is due at once, runs with the access of the user who changed it, and forgets earlier errors. A new area or date starts anew. */
export async function update(
  tx: Tx,
  id: string,
  terms: Partial<SearchTerms>,
  { userId, startsAnew, now }: { userId: string | null; startsAnew: boolean; now: Date },
): Promise<SavedSearch> {
  const row = await tx
    .updateTable('saved_search')
    .set({
      ...values(terms),
      ...(startsAnew ? { sources: '{}' } : {}),
      user_id: userId,
      last_error: null,
      next_run_at: now,
      updated_at: now,
    })
    .where('id', '=', id)
    .returning(COLUMNS)
    .executeTakeFirst()
  if (!row) throw notFound('saved search')
  return row
}

export async function remove(tx: Tx, { id, organizationId }: Pick<SavedSearch, 'id' | 'organizationId'>): Promise<void> {
  const { numDeletedRows } = await tx.deleteFrom('saved_search').where('id', '=', id).executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound('saved search')
  await tx.deleteFrom('reported_scene').where('org_id', '=', organizationId).where('saved_search_id', '=', id).execute()
}

export async function find(db: Db, id: string): Promise<SavedSearch | null> {
  if (!isUuid(id)) return null
  return (await db.selectFrom('saved_search').select(COLUMNS).where('id', '=', id).executeTakeFirst()) ?? null
}

/** For readers of its project: 404 outside the organization, 403 for a private project of others. */
export async function requireReader(db: Db, principal: Principal, id: string): Promise<SavedSearch> {
  const search = await find(db, id)
  if (!search) throw notFound('saved search')
  await projects.unlessHidden('saved search', () => projects.requireReader(db, principal, search.projectId))
  return search
}

/** For editors of its project, which must not be archived. */
export async function requireEditor(db: Db, principal: Principal, id: string): Promise<{ search: SavedSearch; project: projects.Project }> {
  const search = await requireReader(db, principal, id)
  return { search, project: projects.requireActive(await projects.requireRole(db, principal, search.projectId, 'editor')) }
}

/** Newest first: those of a project, or of all projects of an organization that the caller can read. */
export async function list(
  db: Db,
  where: { projectId: string } | { organizationId: string; hiddenProjectIds: readonly string[] },
): Promise<SavedSearch[]> {
  return await db
    .selectFrom('saved_search')
    .select(COLUMNS)
    .$if('projectId' in where, (query) => query.where('project_id', '=', (where as { projectId: string }).projectId))
    .$if('organizationId' in where, (query) => {
      const { organizationId, hiddenProjectIds } = where as { organizationId: string; hiddenProjectIds: readonly string[] }
      return query.where('org_id', '=', organizationId).where(sql<boolean>`project_id <> all(${hiddenProjectIds}::uuid[])`)
    })
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(MAX_PER_ORGANIZATION)
    .execute()
}

/** How many scenes each search has added or reported. */
export async function addedCounts(db: Db, ids: readonly string[]): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<{ id: string; count: number }>`
    select id, count(*)::integer as count from (
      select saved_search_id as id from saved_scene where saved_search_id = any(${ids}::uuid[])
      union all
      select r.saved_search_id from saved_search s join reported_scene r on r.org_id = s.org_id and r.saved_search_id = s.id
      where s.id = any(${ids}::uuid[])
    ) scene group by id
  `.execute(db)
  return new Map(rows.map(({ id, count }) => [id, count]))
}

/**
 * Claims searches that are due, in rotation between organizations, and returns their IDs. Each is due again when the lease ends, in case
 * its run is killed.
 */
export async function claimDue(tx: Tx, now: Date, { limit, leaseMs }: { limit: number; leaseMs: number }): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with due as (
      select id, next_run_at, row_number() over (partition by org_id order by next_run_at, id) as turn
      from saved_search where is_active and auto_add is not null and next_run_at <= ${now}
    ), chosen as (select id from due order by turn, next_run_at, id limit ${limit})
    update saved_search s set next_run_at = ${new Date(now.getTime() + leaseMs)}
    from chosen where s.id = chosen.id and s.next_run_at <= ${now}
    returning s.id
  `.execute(tx)
  return rows.map(({ id }) => id)
}

export interface RunResult {
  sources: Record<string, SourceProgress>
  error: string | null
  nextRunAt: Date
}

/** Has no effect if the search was changed during the run: it is due again then. */
export async function finishRun(
  db: Db,
  { id, updatedAt }: SavedSearch,
  { sources, error, nextRunAt }: RunResult,
  now: Date,
): Promise<void> {
  await db
    .updateTable('saved_search')
    .set({ sources: JSON.stringify(sources), last_error: error, last_run_at: now, next_run_at: nextRunAt })
    .where('id', '=', id)
    .where('updated_at', '=', updatedAt)
    .execute()
}

/** Stops its background runs until a user resumes them. Returns false if that was done before. */
export async function pause(tx: Tx, { id }: Pick<SavedSearch, 'id'>, error: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('saved_search')
    .set({ is_active: false, last_error: error, last_run_at: now })
    .where('id', '=', id)
    .where('is_active', '=', true)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Makes a search due now. */
export async function hasten(tx: Tx, id: string, now: Date): Promise<void> {
  await tx.updateTable('saved_search').set({ next_run_at: now }).where('id', '=', id).execute()
}

/** Pauses the searches of a user who leaves; returns how many. */
export async function pauseAllOf(tx: Tx, organizationId: string, userId: string): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('saved_search')
    .set({ is_active: false })
    .where('org_id', '=', organizationId)
    .where('user_id', '=', userId)
    .where('is_active', '=', true)
    .where('auto_add', 'is not', null)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** Of a project or organization that is deleted. */
export async function removeAllOf(tx: Tx, owner: { projectId: string } | { organizationId: string }): Promise<void> {
  const [column, id] = 'projectId' in owner ? (['project_id', owner.projectId] as const) : (['org_id', owner.organizationId] as const)
  await sql`
    delete from reported_scene r using saved_search s
    where s.${sql.ref(column)} = ${id} and r.org_id = s.org_id and r.saved_search_id = s.id
  `.execute(tx)
  await tx.deleteFrom('saved_search').where(column, '=', id).execute()
}
