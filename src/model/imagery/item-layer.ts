/**
 * What rendering a tile needs from the database: whether the caller can see the item, its file and its style. One query serves all
 * concurrent requests, and its results are cached per caller for one second, because a map requests dozens of tiles at once. Every
 * change by this process clears the cache at once; changes by other processes are seen within the second.
 */
import { sql, type RawBuilder } from 'kysely'
import { LRUCache } from 'lru-cache'
import { batcher } from '#core/batcher.ts'
import type { Clock } from '#core/clock.ts'
import { isUuid } from '#core/ids.ts'
import type { Principal } from '#core/principal.ts'
import { accessDenied, notFound, problem } from '#core/problem.ts'
import { asPlatform } from '#core/tenant.ts'
import type { ItemType, LifecycleState, ProjectRole, Visibility } from '#core/vocabulary.ts'
import type { Notices } from '#db/notices.ts'
import type { Db } from '#db/tables.ts'
import type { Asset, StackAsset } from './asset.ts'
import { contentVersionOf, type Versioned } from './content-version.ts'
import * as projects from '#model/identity/project.ts'
import { inBandOrder, stackBands } from './stack.ts'
import type { Profile } from './visualization-profile.ts'

export interface Layer {
  item: {
    seq: number
    id: string
    organizationId: string
    projectId: string
    name: string
    description: string | null
    type: ItemType
    datetime: Date | null
    lifecycleState: LifecycleState
  }
  /** The file, or the files of a stack. The key of a stack lists those of its assets. */
  asset: Pick<Asset, 'key' | 'bucket' | 'objectKey' | 'href' | 'bandNames' | 'state'> & { stack?: readonly StackAsset[] }
  /** The requested profile or the item's default; null for the style that follows from the raster. */
  profile: Pick<Profile, 'id' | 'name' | 'type' | 'config' | 'version'> | null
}

export interface Choice {
  /** The asset key; null for the profile's asset, otherwise the primary one. */
  assetKey: string | null
  /** A profile's ID; `default` for the item's default, if it has one; null for none. */
  profile: 'default' | (string & {}) | null
  /** The version the caller knows of: a cached row must not be older. */
  version?: number | null
}

interface LayerRequest extends Omit<Choice, 'version'> {
  itemId: string
  organizationId: string | null
  userId: string | null
  isGuest: boolean
  seesEverything: boolean
}

interface Row {
  ordinal: number
  seq: number | null
  id: string
  organizationId: string
  projectId: string
  name: string
  description: string | null
  type: ItemType
  datetime: Date | null
  lifecycleState: LifecycleState
  visibility: Visibility
  memberRole: ProjectRole | null
  assetKey: string | null
  bucket: string | null
  objectKey: string | null
  href: string | null
  bandNames: string[] | null
  assetState: Asset['state']
  stack: StackRow[] | null
  stackProperties: Record<string, unknown>
  wantedKey: string | null
  profileId: string | null
  profileName: string
  profileType: Profile['type']
  profileConfig: Profile['config']
  profileVersion: number
}

interface StackRow extends Pick<Asset, 'key' | 'bucket' | 'objectKey' | 'href' | 'bandNames' | 'state'> {
  fields: Record<string, unknown>
}

const BATCH = { maxKeys: 200, maxInFlight: 2 }
const CACHE_MS = 1_000
const MAX_CACHED = 5_000

/** What tiles are rendered from, for any caller; one per process, invalidated by every change the process commits. */
export interface Layers {
  /** 404 and 403 as for any read of an item. */
  requireReader(principal: Principal, itemId: string, choice: Choice): Promise<Layer>
  /** Names the present state of an item or a collection, for callers who have already checked access. */
  versionOf(target: Versioned): Promise<string>
  /** The same, read from a replica. */
  on(replica: Db): Pick<Layers, 'requireReader' | 'versionOf'>
  /** Clears the cache after a change that this process has committed. */
  forget(): void
}

export function createLayers(db: Db, clock: Clock, notices: Pick<Notices, 'state'> | null): Layers {
  type Find = (request: LayerRequest) => Promise<Row>
  const finderOn = (source: Db): Find => batcher((requests: readonly LayerRequest[]) => findAll(source, requests), BATCH)
  const findOnPrimary = finderOn(db)
  const findOnReplica = new WeakMap<Db, Find>()
  const cache = new LRUCache<string, { row: Row; untilMs: number; state: string }>({ max: MAX_CACHED })
  /** Counts changes by this process: a row read before a change is not cached after it. */
  let changes = 0
  /** Changes of access by other processes are reported by notices. */
  const state = (): string => `${changes}/${notices?.state() ?? ''}`

  const rowFor = async (request: LayerRequest, version: number | null, find: Find): Promise<Row> => {
    const key = JSON.stringify(request)
    const nowMs = clock.now().getTime()
    const cached = cache.get(key)
    const before = state()
    if (cached && cached.untilMs > nowMs && cached.state === before && (version === null || cached.row.profileVersion === version))
      return cached.row
    const row = await find(request)
    cache.set(key, { row, untilMs: nowMs + CACHE_MS, state: before })
    return row
  }

  const readerOf =
    (find: Find): Layers['requireReader'] =>
    async (principal, itemId, choice) => {
      const { organizationId, userId, kind } = principal
      const { version = null, ...request } = choice
      const seesEverything = kind === 'service' && organizationId === null
      const row = await rowFor({ ...request, itemId, organizationId, userId, isGuest: kind === 'user', seesEverything }, version, find)
      if (row.seq === null) throw notFound('item')
      const { visibility, memberRole } = row
      if (!projects.mayRead(principal, { organizationId: row.organizationId, visibility, memberRole })) throw accessDenied()
      return toLayer(row, choice)
    }

  /** Reads that are under way are shared, too. */
  const versions = new LRUCache<string, { version: Promise<string>; untilMs: number; state: string }>({ max: MAX_CACHED })
  const versionOf = (target: Versioned): Promise<string> => {
    const key = JSON.stringify(target)
    const nowMs = clock.now().getTime()
    const cached = versions.get(key)
    const before = state()
    if (cached && cached.untilMs > nowMs && cached.state === before) return cached.version
    const version = asPlatform(() => contentVersionOf(db, target))
    versions.set(key, { version, untilMs: nowMs + CACHE_MS, state: before })
    version.catch(() => versions.delete(key))
    return version
  }

  return {
    requireReader: readerOf(findOnPrimary),
    versionOf,
    on(replica) {
      const find = findOnReplica.get(replica) ?? finderOn(replica)
      findOnReplica.set(replica, find)
      return { requireReader: readerOf(find), versionOf }
    },
    forget() {
      changes++
      cache.clear()
      versions.clear()
    },
  }
}

/** For callers who have already checked access, such as a share link. Returns null if the item is deleted. */
export async function find(db: Db, itemSeq: number, choice: Choice): Promise<Layer | null> {
  const { rows } = await sql<Row>`
    select 1 as ordinal, ${FOUND}
    from (select ${choice.assetKey}::text as asset_key, ${profileIdOf(choice)}::uuid as profile_id,
      ${choice.profile === 'default'}::boolean as wants_default) w
    join (select i.*, 'organization' as visibility, null::text as member_role from item i where i.seq = ${itemSeq}
      and i.deleted_at is null) i on true ${PROFILE_AND_FILE}
  `.execute(db)
  return rows[0] ? toLayer(rows[0], choice) : null
}

/**
 * The items of a collection that make up a tile, in this order, up to a limit. Items without a raster or with a file that is still being
 * converted are left out.
 */
export async function findMany(db: Db, itemSeqs: readonly number[], choice: Choice): Promise<Layer[]> {
  if (itemSeqs.length === 0) return []
  const { rows } = await sql<Row>`
    select w.ordinal::int, ${FOUND}
    from (select seq, ordinal, ${choice.assetKey}::text as asset_key, null::uuid as profile_id,
      ${choice.profile === 'default'}::boolean as wants_default
      from unnest(${itemSeqs}::bigint[]) with ordinality as wanted (seq, ordinal)) w
    join lateral (select i.*, 'organization' as visibility, null::text as member_role from item i where i.seq = w.seq
      and i.deleted_at is null and i.lifecycle_state <> 'expired') i on true ${PROFILE_AND_FILE}
    order by w.ordinal
  `.execute(db)
  const isReady = ({ assetKey, assetState, stack }: Row): boolean =>
    assetKey !== null && (stack ? stack.some(({ state }) => state === 'ready') : assetState === 'ready')
  return rows.filter(isReady).map((row) => toLayer(row, choice))
}

const profileIdOf = ({ profile }: Pick<Choice, 'profile'>): string | null =>
  profile !== null && profile !== 'default' && isUuid(profile) ? profile : null

async function findAll(db: Db, requests: readonly LayerRequest[]): Promise<Row[]> {
  const keys = requests.map((request) => JSON.stringify(request))
  const distinct = [...new Map(keys.map((key, index) => [key, requests[index]!]))]
  const column = <T>(pick: (request: LayerRequest) => T): T[] => distinct.map(([, want]) => pick(want))
  const { rows } = await sql<Row>`
    select w.ordinal::int, ${FOUND}
    from unnest(${column((want) => want.itemId)}::text[], ${column((want) => want.organizationId)}::uuid[],
      ${column((want) => want.userId)}::uuid[], ${column((want) => want.isGuest)}::boolean[],
      ${column((want) => want.seesEverything)}::boolean[], ${column((want) => want.assetKey)}::text[], ${column(profileIdOf)}::uuid[],
        ${column((want) => want.profile === 'default')}::boolean[]
    ) with ordinality as w (item_id, org_id, user_id, is_guest, sees_everything, asset_key, profile_id, wants_default, ordinal)
    left join lateral (
      select i.*, p.visibility, m.role as member_role
      from item i
      join project p on p.id = i.project_id and p.deleted_at is null
      left join project_member m on m.project_id = p.id and m.user_id = w.user_id
      where i.id = w.item_id and i.deleted_at is null and (w.sees_everything or i.org_id = w.org_id or (w.is_guest and m.role is not null))
      order by (i.org_id = w.org_id) is true desc, i.seq limit 1
    ) i on true ${PROFILE_AND_FILE}
  `.execute(db)
  const byKey = new Map(rows.map((row) => [distinct[row.ordinal - 1]![0], row]))
  return keys.map((key) => byKey.get(key)!)
}

/** The properties that decide how the bands of a stack are ordered and their samples scaled. */
const STACK_PROPERTIES = `case when s.stack is null then '{}'::jsonb else jsonb_strip_nulls(jsonb_build_object(
  'bands', i.properties -> 'bands', 'eo:bands', i.properties -> 'eo:bands',
  'constellation', i.properties -> 'constellation', 'platform', i.properties -> 'platform',
  's2:processing_baseline', i.properties -> 's2:processing_baseline',
  'earthsearch:boa_offset_applied', i.properties -> 'earthsearch:boa_offset_applied')) end`

const FOUND: RawBuilder<unknown> = sql.raw(`
  i.seq, i.id, i.org_id as "organizationId", i.project_id as "projectId", i.name, i.description, i.type, i.datetime,
  i.lifecycle_state as "lifecycleState", i.visibility, i.member_role as "memberRole",
  a.key as "assetKey", a.bucket, a.object_key as "objectKey", a.href, a.band_names as "bandNames", a.state as "assetState",
    s.stack, ${STACK_PROPERTIES} as "stackProperties",
    coalesce(w.asset_key, v.asset_key) as "wantedKey",
  v.id as "profileId", v.name as "profileName", v.type as "profileType", v.config as "profileConfig", v.version as "profileVersion"`)

/** What STAC states about the band of a file. */
const STATED_FIELDS = `jsonb_strip_nulls(jsonb_build_object('eo:bands', m.raster -> 'stac' -> 'eo:bands',
  'raster:bands', m.raster -> 'stac' -> 'raster:bands', 'bands', m.raster -> 'stac' -> 'bands', 'gsd', m.raster -> 'stac' -> 'gsd',
  'proj:transform', m.raster -> 'stac' -> 'proj:transform', 'nodata', m.raster -> 'stac' -> 'nodata',
  'data_type', m.raster -> 'stac' -> 'data_type', 'unit', m.raster -> 'stac' -> 'unit',
  'raster:scale', m.raster -> 'stac' -> 'raster:scale', 'raster:offset', m.raster -> 'stac' -> 'raster:offset'))`

const countOf = (list: string): string => `case jsonb_typeof(${list}) when 'array' then jsonb_array_length(${list}) end`

/** A raster of one band that holds data. Files without any statement about their bands are not stacked. */
const IS_STACKED = `m.roles && array['data', 'reflectance'] and not m.roles && array['provenance', 'metadata', 'overview', 'thumbnail']
  and (m.media_type is null or m.media_type like 'image/tiff%' or m.media_type like 'image/vnd.stac.geotiff%')
  and coalesce(${countOf("m.raster -> 'stac_bands'")}, ${countOf("m.raster -> 'bands'")}, cardinality(m.band_names)) = 1`

/**
 * The profile and the file. The primary file is the one with the key `data`, otherwise one with that role, otherwise an image; files
 * that describe others, such as a mosaic's provenance, come last. If none has the key `data` and several with one band hold data, they
 * are a stack.
 */
const PROFILE_AND_FILE: RawBuilder<unknown> = sql.raw(`
  left join lateral (
    select p.* from visualization_profile p where p.item_seq = i.seq and (p.id = w.profile_id or (w.wants_default and p.is_default)) limit 1
  ) v on true
  left join lateral (
    select a.* from asset a
    where a.item_seq = i.seq and case when coalesce(w.asset_key, v.asset_key) is not null then a.key = coalesce(w.asset_key, v.asset_key)
      else a.media_type is null or a.media_type like 'image/tiff%' or a.media_type like 'image/vnd.stac.geotiff%' end
    order by a.key <> 'data', a.roles && array['provenance', 'metadata', 'overview', 'thumbnail'],
      not 'data' = any(a.roles), not 'visual' = any(a.roles), a.ordinal nulls last, a.key limit 1
  ) a on true
  left join lateral (
    select jsonb_agg(jsonb_build_object('key', m.key, 'bucket', m.bucket, 'objectKey', m.object_key, 'href', m.href,
      'bandNames', m.band_names, 'state', m.state, 'fields', ${STATED_FIELDS}) order by m.ordinal nulls last, m.key) as stack
    from asset m
    where a.key <> 'data' and coalesce(w.asset_key, v.asset_key) is null and m.item_seq = i.seq and ${IS_STACKED}
    having count(*) > 1
  ) s on true`)

const fileOf = ({ bucket, objectKey, href, bandNames, assetState: state }: Row, key: string): Layer['asset'] => ({
  key,
  bucket,
  objectKey,
  href,
  bandNames,
  state,
})

function stackOf(found: readonly StackRow[], properties: Record<string, unknown>): Layer['asset'] {
  const rows = inBandOrder(
    found.map((row) => ({ ...row, bandName: row.bandNames?.[0] ?? null })),
    properties,
  )
  const bands = stackBands(rows, properties)
  return {
    key: rows.map(({ key }) => key).join(','),
    bucket: null,
    objectKey: null,
    href: null,
    bandNames: null,
    state: rows.every(({ state }) => state === 'converting') ? 'converting' : 'ready',
    stack: rows.map((file, index) => ({ file, band: bands[index]! })),
  }
}

function toLayer(row: Row, choice: Choice): Layer {
  const { id, organizationId, projectId, name, description, type, datetime, lifecycleState } = row
  if (choice.profile !== null && choice.profile !== 'default' && row.profileId === null) throw notFound('visualization profile')
  if (lifecycleState === 'expired') throw problem('bad-request', 'This item is past its retention and cannot be shown')
  if (row.assetKey === null) throw row.wantedKey === null ? problem('bad-request', 'This item has no raster to show') : notFound('asset')
  return {
    item: { seq: row.seq!, id, organizationId, projectId, name, description, type, datetime, lifecycleState },
    asset: row.stack ? stackOf(row.stack, row.stackProperties) : fileOf(row, row.assetKey),
    profile:
      row.profileId === null
        ? null
        : { id: row.profileId, name: row.profileName, type: row.profileType, config: row.profileConfig, version: row.profileVersion },
  }
}
