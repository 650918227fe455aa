import { sql, type SqlBool } from 'kysely'
import { isUuid, newId } from '#core/ids.ts'
import { isOrganizationAdmin, type Principal } from '#core/principal.ts'
import { accessDenied, notFound, Problem, problem } from '#core/problem.ts'
import type { ProjectRole, Region, Visibility } from '#core/vocabulary.ts'
import type { Joined, Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import { requireOrganization } from './organization.ts'
import * as storageAccounts from '#model/plans/storage-account.ts'

const COLUMNS = [
  'project.id',
  'project.org_id as organizationId',
  'project.name',
  'project.description',
  'project.visibility',
  'project.region',
  'project.bucket_name as bucketName',
  'project.item_count as itemCount',
  'project.storage_bytes as storageBytes',
  'project.created_by as createdBy',
  'project.created_at as createdAt',
  'project.updated_at as updatedAt',
  'project.archived_at as archivedAt',
] as const

type ProjectRow = Row<'project', typeof COLUMNS>

export interface Project extends ProjectRow {
  /** The caller's role; null for a member of the organization with read access only. */
  role: ProjectRole | null
}

/**
 * The projects the caller can see: those of the organization, and those that the user joined as a guest. A key belongs to one
 * organization and never reaches another, nor does the service when it acts for one.
 */
function visible(db: Db, principal: Principal) {
  return selectProject(db, principal).where('project.deleted_at', 'is', null)
}

function selectProject(db: Db, principal: Principal) {
  const guest = principal.kind === 'user' ? sql<SqlBool>`m.role is not null` : sql<SqlBool>`false`
  return db
    .selectFrom('project')
    .leftJoin('project_member as m', (join) => join.onRef('m.project_id', '=', 'project.id').on('m.user_id', '=', principal.userId))
    .select([...COLUMNS, 'm.role as memberRole'])
    .$if(!seesEverything(principal), (query) =>
      query.where((where) => where.or([where('project.org_id', '=', principal.organizationId), guest])),
    )
}

function seesEverything(principal: Principal): boolean {
  return principal.kind === 'service' && principal.organizationId === null
}

const LADDER: readonly ProjectRole[] = ['viewer', 'editor', 'admin']

/** Organization owners and admins act as project admins everywhere in their organization. */
function effectiveRole(row: { organizationId: string; memberRole: ProjectRole | null }, principal: Principal): ProjectRole | null {
  const own = row.organizationId === principal.organizationId
  return seesEverything(principal) || (own && (principal.kind === 'service' || isOrganizationAdmin(principal))) ? 'admin' : row.memberRole
}

/** The same rule for callers that read a project's columns in their own query. */
export function mayRead(
  principal: Principal,
  project: { organizationId: string; visibility: Visibility; memberRole: ProjectRole | null },
): boolean {
  return project.visibility !== 'private' || effectiveRole(project, principal) !== null
}

/** 404 for a project the caller cannot see, 403 for a private project of the organization. */
export async function requireReader(db: Db, principal: Principal, id: string, options: { evenDeleted?: true } = {}): Promise<Project> {
  const row = isUuid(id)
    ? await (options.evenDeleted ? selectProject(db, principal) : visible(db, principal)).where('project.id', '=', id).executeTakeFirst()
    : undefined
  if (!row) throw notFound('project')
  const role = effectiveRole(row, principal)
  if (!role && row.visibility === 'private') throw accessDenied()
  return { ...row, role }
}

/** Reports a record of a project the caller cannot see as not found, so that it looks like one that never existed. */
export async function unlessHidden(what: string, check: () => Promise<unknown>): Promise<void> {
  try {
    await check()
  } catch (error) {
    throw error instanceof Problem && error.slug === 'not-found' ? notFound(what) : error
  }
}

/** For the service itself, without an access check. */
export async function get(db: Db, id: string): Promise<Omit<Project, 'role'>> {
  return await db.selectFrom('project').select(COLUMNS).where('id', '=', id).executeTakeFirstOrThrow()
}

/** Whether the project exists for the caller; reading it can still be forbidden. */
export async function exists(db: Db, principal: Principal, id: string): Promise<boolean> {
  return (await visible(db, principal).where('project.id', '=', id).executeTakeFirst()) !== undefined
}

export async function requireRole(db: Db, principal: Principal, id: string, least: ProjectRole): Promise<Project> {
  const project = await requireReader(db, principal, id)
  if (!project.role || LADDER.indexOf(project.role) < LADDER.indexOf(least)) throw accessDenied()
  return project
}

/** Whether the caller can change anything in an organization: as owner or admin, or as editor of one of its projects. */
export async function isEditorOfAny(db: Db, principal: Principal, organizationId: string): Promise<boolean> {
  if (principal.organizationId === organizationId && isOrganizationAdmin(principal)) return true
  const row = await db
    .selectFrom('project_member as m')
    .innerJoin('project as p', 'p.id', 'm.project_id')
    .select('p.id')
    .where('m.user_id', '=', principal.userId)
    .where('m.role', 'in', ['editor', 'admin'])
    .where('p.org_id', '=', organizationId)
    .where('p.deleted_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** The caller must be an editor and act for the organization that owns the project, because that organization pays. */
export async function requireBuyer(db: Db, principal: Principal, id: string): Promise<Project> {
  const project = await requireRole(db, principal, id, 'editor')
  if (project.organizationId !== requireOrganization(principal)) throw accessDenied()
  return project
}

/** Readers of a project can see its lineage, even after it was deleted. */
export async function requireLineageReader(db: Db, principal: Principal, id: string): Promise<void> {
  const row = await selectProject(db, principal).where('project.id', '=', id).executeTakeFirst()
  if (!row) throw notFound('artifact')
  if (!effectiveRole(row, principal) && row.visibility === 'private') throw accessDenied()
}

/** All projects of an organization, including archived ones, except deleted ones. */
export async function listIds(db: Db, organizationId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('project')
    .select('id')
    .where('org_id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute()
  return rows.map((row) => row.id)
}

/** Whether this database ever contained a project, including deleted ones. */
export async function hasEverExisted(db: Db): Promise<boolean> {
  return (await db.selectFrom('project').select('id').limit(1).executeTakeFirst()) !== undefined
}

/** For changes: an archived project is read-only until it is restored. */
export function requireActive(project: Project): Project {
  if (project.archivedAt) throw archived()
  return project
}

const archived = () => problem('bad-request', 'This project is archived and read-only. Set is_archived to false to change it.')

export async function list(
  db: Db,
  principal: Principal,
  window: { includeArchived: boolean; limit: number; offset: number },
): Promise<{ projects: Project[]; total: number }> {
  const admin = principal.kind === 'service' || isOrganizationAdmin(principal)
  const readable = visible(db, principal)
    .$if(!window.includeArchived, (query) => query.where('project.archived_at', 'is', null))
    .where((where) =>
      where.or([
        where('project.visibility', '=', 'organization'),
        where('m.role', 'is not', null),
        admin ? where('project.org_id', '=', principal.organizationId) : sql<SqlBool>`false`,
      ]),
    )
  const { total } = await db
    .selectFrom(readable.as('r'))
    .select((e) => e.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  const rows = await readable
    .orderBy('project.created_at', 'desc')
    .orderBy('project.id', 'desc')
    .limit(window.limit)
    .offset(window.offset)
    .execute()
  return { projects: rows.map((row) => ({ ...row, role: effectiveRole(row, principal) })), total }
}

export interface NewProject {
  organizationId: string
  name: string
  description: string | null
  visibility: Visibility
  region: Region
  createdBy: string | null
  now: Date
}

export async function insert(tx: Tx, project: NewProject): Promise<Project> {
  const id = newId()
  const { now } = project
  const created = await tx
    .insertInto('project')
    .values({
      id,
      org_id: project.organizationId,
      name: project.name,
      description: project.description,
      visibility: project.visibility,
      region: project.region,
      bucket_name: `svc-${id}`,
      created_by: project.createdBy,
      created_at: now,
      updated_at: now,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
  if (project.createdBy) await putMember(tx, id, project.createdBy, 'admin', now)
  return { ...created, role: 'admin' }
}

export interface ProjectChange {
  name?: string
  description?: string | null
  visibility?: Visibility
  isArchived?: boolean
}

/** Converts the input: null means unchanged, except for the description, which it clears. */
export function toChange(input: {
  name?: string | null
  description?: string | null
  visibility?: Visibility | null
  is_archived?: boolean | null
}): ProjectChange {
  return {
    ...(input.name != null ? { name: input.name } : {}),
    ...(input.description !== undefined ? { description: input.description } : {}),
    ...(input.visibility != null ? { visibility: input.visibility } : {}),
    ...(input.is_archived != null ? { isArchived: input.is_archived } : {}),
  }
}

/** Writes only the given fields, so that concurrent changes do not overwrite each other. An archived project can only be restored. */
export async function update(tx: Tx, project: Project, change: ProjectChange, now: Date): Promise<Project> {
  const { isArchived, ...fields } = change
  const archiving = isArchived === undefined ? {} : { archived_at: isArchived ? sql<Date>`coalesce(archived_at, ${now})` : null }
  const needsActive = isArchived === undefined || (isArchived && Object.keys(fields).length > 0)
  const row = await tx
    .updateTable('project')
    .set({ ...fields, ...archiving, updated_at: now })
    .where('project.id', '=', project.id)
    .where('project.deleted_at', 'is', null)
    .$if(needsActive, (query) => query.where('project.archived_at', 'is', null))
    .returning(COLUMNS)
    .executeTakeFirst()
  if (row) return { ...row, role: project.role }
  throw (await isDeleted(tx, project.id)) ? notFound('project') : archived()
}

async function isDeleted(tx: Tx, id: string): Promise<boolean> {
  return (await tx.selectFrom('project').select('id').where('id', '=', id).where('deleted_at', 'is', null).executeTakeFirst()) === undefined
}

/**
 * Locks the row first, so that a call that adds to the project waits and then finds it deleted. The caller then deletes the items
 * and releases the storage.
 */
export async function softDelete(tx: Tx, id: string, now: Date): Promise<{ storageBytes: number }> {
  const row = await tx
    .selectFrom('project')
    .select('storage_bytes as storageBytes')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forUpdate()
    .executeTakeFirst()
  if (!row) throw notFound('project')
  await tx.updateTable('project').set({ deleted_at: now, updated_at: now, item_count: 0, storage_bytes: 0 }).where('id', '=', id).execute()
  return row
}

/**
 * Updates the counters of the project and its organization in the transaction that changes what they count. Fails if the project was
 * closed meanwhile. Only automatic retention also works in an archived project.
 */
export async function account(
  tx: Tx,
  id: string,
  change: { items?: number; bytes?: number },
  now: Date,
  options: { evenArchived?: true } = {},
): Promise<void> {
  const { items = 0, bytes = 0 } = change
  const { rows } = await sql<{ organizationId: string }>`
    update project set item_count = item_count + ${items}, storage_bytes = storage_bytes + ${bytes}, updated_at = greatest(updated_at,
      ${now})
    where id = ${id} and deleted_at is null and (archived_at is null or ${options.evenArchived ?? false})
      returning org_id as "organizationId"
  `.execute(tx)
  if (rows.length === 0) throw closedMeanwhile()
  await storageAccounts.move(tx, rows[0]!.organizationId, bytes)
}

/**
 * Locks the organization's row for sharing, so that its plan cannot change, and then the project's row. All changes lock in the same
 * order to avoid deadlocks: project, collections, items, and the storage account last.
 */
export async function lock(tx: Tx, id: string): Promise<void> {
  const { rows } = await sql`
    with o as materialized (select id from organization where id = (select org_id from project where id = ${id}) for share)
    select 1 from project p join o on o.id = p.org_id where p.id = ${id} and p.deleted_at is null
      and p.archived_at is null for no key update of p
  `.execute(tx)
  if (rows.length === 0) throw closedMeanwhile()
}

/** Locks several projects in a fixed order, including archived ones, for automatic work. */
export async function lockAll(tx: Tx, ids: readonly string[]): Promise<void> {
  await sql`select 1 from project where id = any(${[...new Set(ids)]}::uuid[]) order by id for no key update`.execute(tx)
}

const closedMeanwhile = () => problem('bad-request', 'This project was archived or deleted concurrently')

/** The projects among these that the caller can read, including deleted ones. */
export async function readableAmong(db: Db, principal: Principal, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await selectProject(db, principal)
    .where(sql<SqlBool>`project.id = any(${[...new Set(ids)]}::uuid[])`)
    .execute()
  return new Set(rows.filter((row) => row.visibility === 'organization' || effectiveRole(row, principal)).map((row) => row.id))
}

/**
 * Private projects of the caller's organization that the caller cannot read, including deleted ones. Lists of the organization exclude
 * them, by the rule of `requireReader`, so that lists and single reads agree.
 */
export async function hiddenFrom(db: Db, principal: Principal): Promise<string[]> {
  if (principal.kind === 'service' || isOrganizationAdmin(principal)) return []
  const rows = await db
    .selectFrom('project')
    .leftJoin('project_member as m', (join) => join.onRef('m.project_id', '=', 'project.id').on('m.user_id', '=', principal.userId))
    .select('project.id')
    .where('project.org_id', '=', principal.organizationId)
    .where('project.visibility', '=', 'private')
    .where('m.role', 'is', null)
    .execute()
  return rows.map((row) => row.id)
}

function memberRows(db: Db, projectId: string) {
  return db
    .selectFrom('project_member as m')
    .innerJoin('app_user as u', 'u.id', 'm.user_id')
    .select(['m.user_id as userId', 'u.email', 'u.name', 'm.role', 'm.created_at as createdAt'])
    .where('m.project_id', '=', projectId)
}

export type ProjectMember = Joined<typeof memberRows>

export async function listMembers(db: Db, projectId: string): Promise<ProjectMember[]> {
  return await memberRows(db, projectId).orderBy('m.created_at').orderBy('m.user_id').execute()
}

export async function findMember(db: Db, projectId: string, userId: string): Promise<ProjectMember | null> {
  return (isUuid(userId) ? await memberRows(db, projectId).where('m.user_id', '=', userId).executeTakeFirst() : null) ?? null
}

export async function putMember(tx: Tx, projectId: string, userId: string, role: ProjectRole, now: Date): Promise<void> {
  await tx
    .insertInto('project_member')
    .values({ project_id: projectId, user_id: userId, role, created_at: now })
    .onConflict((conflict) => conflict.columns(['project_id', 'user_id']).doUpdateSet({ role }))
    .execute()
}

/** Fails if the user is no longer a member. */
export async function setMemberRole(tx: Tx, projectId: string, userId: string, role: ProjectRole): Promise<void> {
  const result = await tx
    .updateTable('project_member')
    .set({ role })
    .where('project_id', '=', projectId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  if (result.numUpdatedRows === 0n) throw notFound('member')
}

export async function removeMember(tx: Tx, projectId: string, userId: string): Promise<void> {
  const result = await tx.deleteFrom('project_member').where('project_id', '=', projectId).where('user_id', '=', userId).executeTakeFirst()
  if (result.numDeletedRows === 0n) throw notFound('member')
}

/** A project always has an admin: the last one keeps the role. The lock serializes concurrent changes. */
export async function keepAnAdmin(tx: Tx, projectId: string): Promise<void> {
  await sql`select 1 from project where id = ${projectId} for update`.execute(tx)
  const { admins } = await tx
    .selectFrom('project_member')
    .select((e) => e.fn.countAll<number>().as('admins'))
    .where('project_id', '=', projectId)
    .where('role', '=', 'admin')
    .executeTakeFirstOrThrow()
  if (admins === 0) throw problem('bad-request', 'A project must have an admin. Make another member an admin first.')
}

/** A user's roles in the named projects of an organization: as given, and none where none is given. Other projects are left alone. */
export async function setRolesOf(
  tx: Tx,
  organizationId: string,
  userId: string,
  { named, given }: { named: readonly string[]; given: ReadonlyMap<string, ProjectRole> },
  now: Date,
): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select id from project where org_id = ${organizationId} and id = any(${named}::uuid[]) and deleted_at is null
  `.execute(tx)
  for (const { id } of rows) {
    const role = given.get(id)
    if (role === undefined) await tx.deleteFrom('project_member').where('project_id', '=', id).where('user_id', '=', userId).execute()
    else
      await tx
        .insertInto('project_member')
        .values({ project_id: id, user_id: userId, role, created_at: now })
        .onConflict((conflict) => conflict.columns(['project_id', 'user_id']).doUpdateSet({ role }))
        .execute()
  }
}
