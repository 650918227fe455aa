/** Named maps: layers, groups, camera and annotations. A map belongs to a project and shows imagery of that project only. */
import { sql } from 'kysely'
import { isUuid, newId } from '#core/ids.ts'
import type { Principal } from '#core/principal.ts'
import { notFound, problem } from '#core/problem.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { MapAnnotation, MapContent, MapFeature, MapGroup, MapLayer, MapLayerStyle } from '#db/tables/imagery.ts'
import * as projects from '#model/identity/project.ts'
import * as collections from './collection.ts'
import * as items from './item-read.ts'

export type { MapAnnotation, MapFeature, MapGroup, MapLayer, MapLayerStyle }

const HEAD = [
  'org_id as organizationId',
  'id',
  'project_id as projectId',
  'name',
  'description',
  'version',
  'created_by as createdBy',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const
const COLUMNS = [...HEAD, 'content'] as const

export type SavedMap = Row<'map', typeof COLUMNS>
/** Without the layers, of which a list only needs the number. */
export type MapSummary = Row<'map', typeof HEAD> & {
  layerCount: number
  annotationCount: number
  commentCount: number
  openCommentCount: number
}

export const MAX_PER_ORGANIZATION = 1_000

async function find(db: Db, principal: Principal, id: string): Promise<SavedMap | null> {
  if (!isUuid(id)) return null
  const everything = principal.kind === 'service' && principal.organizationId === null
  const row = await db
    .selectFrom('map')
    .select(COLUMNS)
    .where('id', '=', id)
    .$if(!everything, (query) =>
      query.where((where) =>
        where.or([
          where('org_id', '=', principal.organizationId),
          ...(principal.kind === 'user'
            ? [where('project_id', 'in', where.selectFrom('project_member').select('project_id').where('user_id', '=', principal.userId))]
            : []),
        ]),
      ),
    )
    .executeTakeFirst()
  return row ?? null
}

/** For callers who have checked access, such as a share link. */
export async function findIn(db: Db, organizationId: string, id: string): Promise<SavedMap | null> {
  return (await db.selectFrom('map').select(COLUMNS).where('org_id', '=', organizationId).where('id', '=', id).executeTakeFirst()) ?? null
}

/** For readers of its project: 404 outside the organization, 403 for a private project of others. */
export async function requireReader(db: Db, principal: Principal, id: string): Promise<{ map: SavedMap; project: projects.Project }> {
  const map = await find(db, principal, id)
  if (!map) throw notFound('map')
  await projects.unlessHidden('map', () => projects.requireReader(db, principal, map.projectId))
  return { map, project: await projects.requireReader(db, principal, map.projectId) }
}

/** For editors of its project, which must not be archived. */
export async function requireEditor(db: Db, principal: Principal, id: string): Promise<{ map: SavedMap; project: projects.Project }> {
  const { map } = await requireReader(db, principal, id)
  return { map, project: projects.requireActive(await projects.requireRole(db, principal, map.projectId, 'editor')) }
}

/** Locked until the end of the transaction, so that nothing refers to a map that is being deleted. */
export async function lock(tx: Tx, { organizationId, id }: Pick<SavedMap, 'organizationId' | 'id'>): Promise<SavedMap> {
  const row = await tx
    .selectFrom('map')
    .select(COLUMNS)
    .where('org_id', '=', organizationId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  if (!row) throw notFound('map')
  return row
}

export interface MapFields {
  name: string
  description: string | null
  content: MapContent
}

/** 400 if the organization has too many. The lock keeps concurrent calls within the limit. */
export async function insert(tx: Tx, principal: Principal, project: projects.Project, fields: MapFields, now: Date): Promise<SavedMap> {
  const { organizationId } = project
  await sql`select pg_advisory_xact_lock(hashtextextended(${`maps ${organizationId}`}, 0))`.execute(tx)
  const { used } = await tx
    .selectFrom('map')
    .select((e) => e.fn.countAll<number>().as('used'))
    .where('org_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  if (used >= MAX_PER_ORGANIZATION)
    throw problem('bad-request', `This organization has ${used} of ${MAX_PER_ORGANIZATION} maps. Delete one you no longer need.`, {
      members: { used, limit: MAX_PER_ORGANIZATION },
    })
  return await tx
    .insertInto('map')
    .values({
      org_id: organizationId,
      id: newId(),
      project_id: project.id,
      name: fields.name,
      description: fields.description,
      content: JSON.stringify(fields.content),
      version: 1,
      created_by: principal.kind === 'user' ? principal.userId : null,
      created_at: now,
      updated_at: now,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

/** `version` is what the caller has seen; undefined replaces whatever is there. 409 if somebody else was faster. */
export async function update(
  tx: Tx,
  map: Pick<SavedMap, 'organizationId' | 'id'>,
  { version, ...change }: Partial<MapFields> & { version: number | undefined },
  now: Date,
): Promise<SavedMap> {
  const before = await lock(tx, map)
  if (version !== undefined && version !== before.version)
    throw problem('map-changed', 'The map was changed by somebody else. Read it again, then repeat the change.', {
      members: { current_version: before.version },
    })
  return await tx
    .updateTable('map')
    .set({
      ...(change.name === undefined ? {} : { name: change.name }),
      ...(change.description === undefined ? {} : { description: change.description }),
      ...(change.content === undefined ? {} : { content: JSON.stringify(change.content) }),
      version: before.version + 1,
      updated_at: now,
    })
    .where('org_id', '=', map.organizationId)
    .where('id', '=', map.id)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

export async function remove(tx: Tx, { organizationId, id }: Pick<SavedMap, 'organizationId' | 'id'>): Promise<void> {
  const { numDeletedRows } = await tx.deleteFrom('map').where('org_id', '=', organizationId).where('id', '=', id).executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound('map')
}

/** Of a project or organization that is deleted. */
export async function removeAllOf(
  tx: Tx,
  { organizationId, projectId }: { organizationId: string; projectId: string | null },
): Promise<void> {
  await tx
    .deleteFrom('map')
    .where('org_id', '=', organizationId)
    .$if(projectId !== null, (query) => query.where('project_id', '=', projectId!))
    .execute()
}

const COMMENTS = sql`from map_comment c where c.org_id = map.org_id and c.map_id = map.id`

interface MapFilter {
  where: { projectId: string } | { organizationId: string; hiddenProjectIds: readonly string[] }
  limit: number
  offset: number
}

/** Those that were changed last come first: of a project, or of all projects of an organization that the caller can read. */
export async function list(db: Db, { where, limit, offset }: MapFilter): Promise<{ maps: MapSummary[]; total: number }> {
  const among = db
    .selectFrom('map')
    .$call((query) =>
      'projectId' in where
        ? query.where('project_id', '=', where.projectId)
        : query.where('org_id', '=', where.organizationId).where(sql<boolean>`project_id <> all(${where.hiddenProjectIds}::uuid[])`),
    )
  const { total } = await among.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const maps = await among
    .select(HEAD)
    .select([
      sql<number>`jsonb_array_length(content->'layers')`.as('layerCount'),
      sql<number>`jsonb_array_length(content->'annotations')`.as('annotationCount'),
      sql<number>`(select count(*) ${COMMENTS})`.as('commentCount'),
      sql<number>`(select count(*) ${COMMENTS} and c.resolved_at is null)`.as('openCommentCount'),
    ])
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
  return { maps, total }
}

export interface Sources {
  items: ReadonlyMap<string, items.Item>
  collections: ReadonlyMap<string, collections.Collection>
}

/** What the layers can show now: imagery that is still in the project of the map. */
export async function sourcesOf(
  db: Db,
  { organizationId, projectId }: Pick<SavedMap, 'organizationId' | 'projectId'>,
  layers: readonly Pick<MapLayer, 'item_id' | 'collection_id'>[],
): Promise<Sources> {
  const itemIds = [...new Set(layers.flatMap(({ item_id }) => item_id ?? []))]
  const collectionIds = [...new Set(layers.flatMap(({ collection_id }) => collection_id ?? []))].filter(isUuid)
  const foundItems =
    itemIds.length === 0
      ? []
      : await db
          .selectFrom('item')
          .select(items.COLUMNS)
          .where('org_id', '=', organizationId)
          .where('project_id', '=', projectId)
          .where(sql<boolean>`id = any(${itemIds}::text[])`)
          .where('deleted_at', 'is', null)
          .where('lifecycle_state', 'not in', ['expired', 'deleted'])
          .execute()
  const foundCollections =
    collectionIds.length === 0 ? [] : await collections.listOfOrganization(db, { organizationId, hiddenProjectIds: [], ids: collectionIds })
  return {
    items: new Map(foundItems.map((item) => [item.id, item])),
    collections: new Map(foundCollections.filter((each) => each.projectId === projectId).map((each) => [each.id, each])),
  }
}
