import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { isUuid, newId } from '#core/ids.ts'
import { accessDenied, invalidField, notFound, problem } from '#core/problem.ts'
import type { AssetState } from '#core/vocabulary.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { RasterService } from '#ports/raster.ts'
import * as projects from '#model/identity/project.ts'

interface Described {
  id: string
  key: string
  title: string | null
  mediaType: string | null
  roles: readonly string[]
  bandNames: readonly string[] | null
  raster: Record<string, unknown> | null
  /** Ready unless it says otherwise. */
  state?: AssetState
}

/** A file of ours. */
export type NewFile = Described & { bucket: string; objectKey: string; fileSizeBytes: number; sha256: Buffer | null }
/** That, or an address elsewhere. */
export type NewAsset = NewFile | (Described & { href: string; fileSizeBytes: number | null })

/** Only files of ours take room; what lies elsewhere does not. */
export const storedBytes = (assets: readonly NewAsset[]): number =>
  assets.reduce((sum, asset) => sum + ('objectKey' in asset ? asset.fileSizeBytes : 0), 0)

const COLUMNS = [
  'id',
  'item_seq as itemSeq',
  'key',
  'title',
  'media_type as mediaType',
  'roles',
  // Null when the file lies elsewhere, at `href`.
  'bucket',
  'object_key as objectKey',
  'href',
  'file_size_bytes as fileSizeBytes',
  'sha256',
  'band_names as bandNames',
  'raster',
  'state',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const

export type Asset = Row<'asset', typeof COLUMNS>

/** By item, the primary one first. */
export async function listOf(db: Db, itemSeqs: readonly number[]): Promise<Map<number, Asset[]>> {
  const found = new Map<number, Asset[]>(itemSeqs.map((seq) => [seq, []]))
  if (itemSeqs.length === 0) return found
  const rows = await db
    .selectFrom('asset')
    .select(COLUMNS)
    .where(sql<boolean>`item_seq = any(${itemSeqs}::bigint[])`)
    .orderBy('item_seq')
    .orderBy(sql`key <> 'data'`)
    .orderBy('key')
    .execute()
  for (const row of rows) found.get(row.itemSeq)!.push(row)
  return found
}

export async function list(db: Db, itemSeq: number): Promise<Asset[]> {
  return (await listOf(db, [itemSeq])).get(itemSeq)!
}

/** An asset that is not of this item is refused, whether it exists or not. */
export async function requireOf(db: Db, itemSeq: number, id: string): Promise<Asset> {
  const row = isUuid(id)
    ? await db.selectFrom('asset').select(COLUMNS).where('id', '=', id).where('item_seq', '=', itemSeq).executeTakeFirst()
    : undefined
  if (!row) throw accessDenied()
  return row
}

/** By its id alone, for callers who then ask whose it is. */
export async function find(db: Db, id: string): Promise<Asset | null> {
  return (await db.selectFrom('asset').select(COLUMNS).where('id', '=', id).executeTakeFirst()) ?? null
}

/** By its id or its key. An asset that is not of this item does not exist here. */
export async function requireNamed(db: Db, itemSeq: number, idOrKey: string): Promise<Asset> {
  const assets = await list(db, itemSeq)
  const found = assets.find(({ id }) => id === idOrKey.toLowerCase()) ?? assets.find(({ key }) => key === idOrKey)
  if (!found) throw notFound('asset of this item')
  return found
}

/** The asset that an item is about: key `data`, else the ones with the role. */
const primariesOf = (assets: readonly Asset[]): readonly Asset[] => {
  const named = assets.filter(({ key }) => key === 'data')
  return named.length > 0 ? named : assets.filter(({ roles }) => roles.includes('data'))
}

/** The one that an item is about; of several, the first by key. */
export async function requirePrimary(db: Db, itemSeq: number): Promise<Asset> {
  const assets = await list(db, itemSeq)
  const found = primariesOf(assets)[0] ?? assets[0]
  if (!found) throw problem('bad-request', 'This item has no assets')
  return found
}

/** What a catalogue says of one band. */
export interface StatedBand {
  name: string | null
  commonName: string | null
  dataType: string | null
}

/** What the STAC metadata that an asset was registered with says of its bands. */
export function statedBands({ raster }: Pick<Asset, 'raster'>): StatedBand[] | null {
  const bands = raster?.['stac_bands']
  return Array.isArray(bands) ? (bands as StatedBand[]) : null
}

/** The caller holds the item's row. An asset that went meanwhile does not exist. */
export async function setBandNames(
  tx: Tx,
  itemSeq: number,
  id: string,
  names: readonly string[],
  now: Date,
): Promise<{ asset: Asset; isChanged: boolean }> {
  const before = await tx.selectFrom('asset').select(COLUMNS).where('id', '=', id).where('item_seq', '=', itemSeq).executeTakeFirst()
  if (!before) throw notFound('asset of this item')
  if (isDeepStrictEqual(before.bandNames, names)) return { asset: before, isChanged: false }
  return {
    asset: await tx
      .updateTable('asset')
      .set({ band_names: [...names], updated_at: now })
      .where('id', '=', id)
      .returning(COLUMNS)
      .executeTakeFirstOrThrow(),
    isChanged: true,
  }
}

/** Deletes one asset and returns its room. The caller holds the item's row, so the last primary one cannot slip away. */
export async function remove(tx: Tx, where: { itemSeq: number; projectId: string; now: Date }, id: string): Promise<Asset> {
  const assets = await list(tx, where.itemSeq)
  const asset = assets.find((candidate) => candidate.id === id)
  if (!asset) throw accessDenied()
  const primaries = primariesOf(assets)
  const rest = primariesOf(assets.filter((candidate) => candidate !== asset))
  if (primaries.includes(asset) && rest.length === 0)
    throw problem('bad-request', 'This is the last primary data asset of its item; delete the item instead')
  await tx.deleteFrom('asset').where('id', '=', id).execute()
  await projects.account(tx, where.projectId, { bytes: asset.objectKey === null ? 0 : -(asset.fileSizeBytes ?? 0) }, where.now)
  return asset
}

/** A row of its own for each, on the same files: it counts by itself, and the file stays until the last row is gone. */
export function copies(assets: readonly Asset[]): { from: string; made: NewAsset }[] {
  return assets.map((asset) => {
    const described = {
      id: newId(),
      key: asset.key,
      title: asset.title,
      mediaType: asset.mediaType,
      roles: asset.roles,
      bandNames: asset.bandNames,
      raster: asset.raster,
      state: asset.state,
    }
    const made: NewAsset =
      asset.objectKey === null
        ? { ...described, href: asset.href!, fileSizeBytes: asset.fileSizeBytes }
        : { ...described, bucket: asset.bucket!, objectKey: asset.objectKey, fileSizeBytes: asset.fileSizeBytes!, sha256: asset.sha256 }
    return { from: asset.id, made }
  })
}

/**
 * Which host it may be is asked when its pixels are read: a list of hosts changes, a registered address does not. Plain http
 * is for hosts that the operator opened the way to.
 */
export function requireHref(href: string, field: string, raster: Pick<RasterService, 'mayRead'>): string {
  if (UNSENDABLE.test(href)) throw invalidField(field, 'holds a control character; write it percent-encoded')
  const url = URL.parse(href)
  if (!url || (url.protocol !== 'https:' && !raster.mayRead(href))) throw invalidField(field, 'must be an https address')
  if (url.username || url.password) throw invalidField(field, 'must not carry a user name or password')
  return PLAIN.test(href) ? href : url.href // As it goes over the wire: a header takes ASCII alone.
}

// oxlint-disable-next-line no-control-regex
const UNSENDABLE = /[\u0000-\u001f\u007f-\u009f]/
const PLAIN = /^[\x20-\x7e]*$/

/** A file that lies where this service never goes is fetched from there, by whoever wants it: we lead nobody to a strange host. */
export function requireReachable(asset: Pick<Asset, 'key' | 'objectKey' | 'href'>, raster: Pick<RasterService, 'mayRead'>): void {
  if (asset.objectKey !== null || raster.mayRead(asset.href!)) return
  throw problem('bad-request', `The file of the asset '${asset.key}' is not kept here; it lies at ${asset.href}`)
}

/** Where an asset can be asked for: stable, and never a presigned address. */
export function addressOf(asset: Pick<Asset, 'href' | 'key'>, itemId: string, baseUrl: string): string {
  return asset.href ?? `${baseUrl}/api/v1/items/${encodeURIComponent(itemId)}/assets/${encodeURIComponent(asset.key)}`
}

const ENDINGS: readonly (readonly [RegExp, string])[] = [
  [/^image\/tiff/, '.tif'],
  [/^image\/jpeg/, '.jpg'],
  [/^image\/png/, '.png'],
  [/^image\/webp/, '.webp'],
  [/^image\/jp2/, '.jp2'],
  [/^application\/geo\+json/, '.geojson'],
  [/json/, '.json'],
  [/^application\/pdf/, '.pdf'],
  [/^application\/zip/, '.zip'],
  [/xml/, '.xml'],
  [/^text\/csv/, '.csv'],
  [/parquet/, '.parquet'],
  [/^text\/plain/, '.txt'],
]

/** Other spellings of an ending, which a name may have already. */
const LONG_ENDINGS: Readonly<Record<string, RegExp>> = { '.tif': /\.tiff$/i, '.jpg': /\.jpeg$/i }

/** What a downloaded file is called: after its item, which a person has named, with the ending of what it is. */
export function fileNameOf({ key, mediaType, objectKey }: Pick<Asset, 'key' | 'mediaType' | 'objectKey'>, itemName: string): string {
  const ending = ENDINGS.find(([type]) => type.test(mediaType ?? ''))?.[1] ?? /\.[A-Za-z0-9]{1,8}$/.exec(objectKey ?? '')?.[0] ?? ''
  const base = itemName.replace(LONG_ENDINGS[ending] ?? '', '')
  const plain = ending !== '' && base.toLowerCase().endsWith(ending) ? base.slice(0, -ending.length) : base
  return `${plain.replaceAll(/[/\\]/g, '_')}${key === 'data' ? '' : ` ${key.replaceAll(/[/\\]/g, '_')}`}${ending}`
}

/** Where an asset's pixels are read from: 400 while its file is still being converted. */
export function rasterSourceOf({
  key,
  state,
  bucket,
  objectKey,
  href,
}: Pick<Asset, 'key' | 'state' | 'bucket' | 'objectKey' | 'href'>): { url: string } | { object: { bucket: string; key: string } } {
  if (state === 'converting')
    throw problem(
      'asset-not-ready',
      `The file of the asset '${key}' is still being converted to a cloud-optimized GeoTIFF; uploads.progress tells how far it is`,
    )
  return objectKey === null ? { url: href! } : { object: { bucket: bucket!, key: objectKey } }
}

/** Adds files of ours to an item that exists. The caller holds the project and the item, and has chosen keys that are free. */
export async function add(
  tx: Tx,
  to: { organizationId: string; projectId: string; itemSeq: number; now: Date },
  assets: readonly NewFile[],
): Promise<void> {
  for (const asset of assets) {
    await tx
      .insertInto('asset')
      .values({
        id: asset.id,
        org_id: to.organizationId,
        item_seq: to.itemSeq,
        key: asset.key,
        title: asset.title,
        media_type: asset.mediaType,
        roles: [...asset.roles],
        bucket: asset.bucket,
        object_key: asset.objectKey,
        file_size_bytes: asset.fileSizeBytes,
        sha256: asset.sha256,
        band_names: asset.bandNames ? [...asset.bandNames] : null,
        raster: asset.raster ? JSON.stringify(asset.raster) : null,
        state: asset.state ?? 'ready',
        created_at: to.now,
        updated_at: to.now,
      })
      .execute()
  }
  await projects.account(tx, to.projectId, { bytes: storedBytes(assets) }, to.now)
}

/** The first of `data`, `data_2`, `data_3`… that is free. */
export function freeKey(wanted: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const key = number === 1 ? wanted : `${wanted}_${number}`
    if (!taken.has(key)) return key
  }
}
