import { sql, type RawBuilder } from 'kysely'
import { isUuid, newId } from '#core/ids.ts'
import { isOrganizationAdmin, type Principal } from '#core/principal.ts'
import { notFound, problem } from '#core/problem.ts'
import { MINUTE_MS } from '#core/time.ts'
import type { AlertComparison } from '#core/vocabulary.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import { mayRead, RIGHTS } from './audience.ts'

const COLUMNS = [
  'id',
  'org_id as organizationId',
  'user_id as userId',
  'created_by as createdBy',
  'name',
  'description',
  'collection_id as collectionId',
  'event_types as eventTypes',
  'expression',
  'comparison',
  'threshold',
  'threshold_upper as thresholdUpper',
  'asset_key as assetKey',
  'band_mapping as bandMapping',
  'aoi_geometry as aoiGeometry',
  'notification_channels as notificationChannels',
  'cooldown_minutes as cooldownMinutes',
  'is_active as isActive',
  'last_triggered_at as lastTriggeredAt',
  'last_error as lastError',
  'last_error_at as lastErrorAt',
  'created_at as createdAt',
] as const

export type AlertRule = Row<'alert_rule', typeof COLUMNS>

export interface RuleTerms {
  name: string
  description: string | null
  collectionId: string | null
  eventTypes: string[]
  expression: string
  comparison: AlertComparison
  threshold: number
  thresholdUpper: number | null
  assetKey: string
  bandMapping: Record<string, number>
  aoiGeometry: Record<string, unknown> | null
  notificationChannels: string[]
  cooldownMinutes: number
  isActive: boolean
}

function values(terms: Partial<RuleTerms>) {
  return {
    ...(terms.name === undefined ? {} : { name: terms.name }),
    ...(terms.description === undefined ? {} : { description: terms.description }),
    ...(terms.collectionId === undefined ? {} : { collection_id: terms.collectionId }),
    ...(terms.eventTypes === undefined ? {} : { event_types: terms.eventTypes }),
    ...(terms.expression === undefined ? {} : { expression: terms.expression }),
    ...(terms.comparison === undefined ? {} : { comparison: terms.comparison }),
    ...(terms.threshold === undefined ? {} : { threshold: terms.threshold }),
    ...(terms.thresholdUpper === undefined ? {} : { threshold_upper: terms.thresholdUpper }),
    ...(terms.assetKey === undefined ? {} : { asset_key: terms.assetKey }),
    ...(terms.bandMapping === undefined ? {} : { band_mapping: JSON.stringify(terms.bandMapping) }),
    ...(terms.aoiGeometry === undefined ? {} : { aoi_geometry: terms.aoiGeometry && JSON.stringify(terms.aoiGeometry) }),
    ...(terms.notificationChannels === undefined ? {} : { notification_channels: terms.notificationChannels }),
    ...(terms.cooldownMinutes === undefined ? {} : { cooldown_minutes: terms.cooldownMinutes }),
    ...(terms.isActive === undefined ? {} : { is_active: terms.isActive }),
  }
}

/** Every new item is evaluated against every rule, so the number of rules is limited. */
export const MAX_RULES_PER_ORGANIZATION = 100

/** 400 if the limit is reached. The lock keeps concurrent calls within it. */
async function requirePlace(tx: Tx, organizationId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`alert rules ${organizationId}`}, 0))`.execute(tx)
  const { used } = await tx
    .selectFrom('alert_rule')
    .select((e) => e.fn.countAll<number>().as('used'))
    .where('org_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  if (used >= MAX_RULES_PER_ORGANIZATION)
    throw problem(
      'bad-request',
      `This organization has ${used} of ${MAX_RULES_PER_ORGANIZATION} alert rules. Delete one you no longer need.`,
      { members: { used, limit: MAX_RULES_PER_ORGANIZATION } },
    )
}

export async function insert(tx: Tx, principal: Principal, organizationId: string, terms: RuleTerms, now: Date): Promise<AlertRule> {
  await requirePlace(tx, organizationId)
  return await tx
    .insertInto('alert_rule')
    .values({
      ...(values(terms) as Required<ReturnType<typeof values>>),
      id: newId(),
      org_id: organizationId,
      user_id: principal.userId,
      created_by: principal.kind === 'user' ? principal.userId : null,
      created_at: now,
      updated_at: now,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

/** An update clears earlier errors. */
export async function update(tx: Tx, id: string, terms: Partial<RuleTerms> & { userId?: string | null }, now: Date): Promise<AlertRule> {
  const row = await tx
    .updateTable('alert_rule')
    .set({
      ...values(terms),
      ...(terms.userId === undefined ? {} : { user_id: terms.userId }),
      updated_at: now,
      last_error: null,
      last_error_at: null,
    })
    .where('id', '=', id)
    .returning(COLUMNS)
    .executeTakeFirst()
  if (!row) throw notFound('alert rule')
  return row
}

/** Its events stay. Fails if it was deleted meanwhile. */
export async function remove(tx: Tx, id: string): Promise<void> {
  const result = await tx.deleteFrom('alert_rule').where('id', '=', id).executeTakeFirst()
  if (result.numDeletedRows === 0n) throw notFound('alert rule')
}

export async function find(db: Db, id: string): Promise<AlertRule | null> {
  return (await db.selectFrom('alert_rule').select(COLUMNS).where('id', '=', id).executeTakeFirst()) ?? null
}

/** A rule on a collection is visible to readers of the collection, even after the collection or its project was deleted. */
function isVisibleTo(principal: Principal): RawBuilder<boolean> {
  if (principal.kind === 'service' || isOrganizationAdmin(principal)) return sql<boolean>`true`
  return sql<boolean>`(alert_rule.collection_id is null or exists (
    select from collection c join project p on p.id = c.project_id
    left join project_member m on m.project_id = p.id and m.user_id = ${principal.userId}
    where c.id = alert_rule.collection_id and (p.visibility <> 'private' or m.role is not null)
  ))`
}

export async function requireVisible(db: Db, principal: Principal, organizationId: string, id: string): Promise<AlertRule> {
  const row = isUuid(id)
    ? await db
        .selectFrom('alert_rule')
        .select(COLUMNS)
        .where('id', '=', id)
        .where('org_id', '=', organizationId)
        .where(isVisibleTo(principal))
        .executeTakeFirst()
    : undefined
  if (!row) throw notFound('alert rule')
  return row
}

const MAX_LISTED = 1_000

export async function list(
  db: Db,
  principal: Principal,
  organizationId: string,
  filter: { isActive: boolean | null; collectionId: string | null },
): Promise<AlertRule[]> {
  if (filter.collectionId !== null && !isUuid(filter.collectionId)) return []
  return await db
    .selectFrom('alert_rule')
    .select(COLUMNS)
    .where('org_id', '=', organizationId)
    .where(isVisibleTo(principal))
    .$if(filter.isActive !== null, (query) => query.where('is_active', '=', filter.isActive!))
    .$if(filter.collectionId !== null, (query) => query.where('collection_id', '=', filter.collectionId))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(MAX_LISTED)
    .execute()
}

/** Starts the cooldown. Returns false if the rule is cooling down or was deactivated meanwhile; it must then not fire. */
export async function fire(tx: Tx, { id, cooldownMinutes }: AlertRule, now: Date): Promise<boolean> {
  const quietSince = new Date(now.getTime() - cooldownMinutes * MINUTE_MS)
  const result = await tx
    .updateTable('alert_rule')
    .set({ last_triggered_at: now, last_error: null, last_error_at: null })
    .where('id', '=', id)
    .where('is_active', '=', true)
    .where((where) => where.or([where('last_triggered_at', 'is', null), where('last_triggered_at', '<=', quietSince)]))
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}

/** Whether the rule's user can still read the item's project, as for webhooks. */
export async function mayReadProject(db: Db, rule: AlertRule, projectId: string): Promise<boolean> {
  const { rows } = await sql<{ isReadable: boolean }>`
    select ${mayRead} as "isReadable"
    from alert_rule w cross join (select ${projectId}::uuid as project_id) e ${RIGHTS} where w.id = ${rule.id}
  `.execute(db)
  return rows[0]?.isReadable ?? false
}
