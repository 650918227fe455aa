import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { isUuid, newId } from '#core/ids.ts'
import { accessDenied, invalidField, notFound, problem } from '#core/problem.ts'
import type { AssetState } from '#core/vocabulary.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { FileSource, RasterService, RasterSource, StackBand } from '#ports/raster.ts'
import * as projects from '#model/identity/project.ts'

interface Described {
  id: string
  key: string
  title: string | null
  mediaType: string | null
  roles: readonly string[]
  bandNames: readonly string[] | null
  raster: Record<string, unknown> | null
  /** Ready by default. */
  state?: AssetState
}

/** A file in the object store. */
export type NewFile = Described & { bucket: string; objectKey: string; fileSizeBytes: number; sha256: Buffer | null }
/** A stored file, or a URL elsewhere. */
export type NewAsset = NewFile | (Described & { href: string; fileSizeBytes: number | null })

/** Only stored files use storage; referenced ones do not. */
export const storedBytes = (assets: readonly NewAsset[]): number =>
  assets.reduce((sum, asset) => sum + ('objectKey' in asset ? asset.fileSizeBytes : 0), 0)

const COLUMNS = [
  'id',
  'item_seq as itemSeq',
  'key',
  'title',
  'media_type as mediaType',
  'roles',
  // Null if the asset is only referenced, by `href`.
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

/** By item: the asset with the key `data`, then the others in the order of the item. */
export async function listOf(db: Db, itemSeqs: readonly number[]): Promise<Map<number, Asset[]>> {
  const byItem = new Map<number, Asset[]>(itemSeqs.map((seq) => [seq, []]))
  if (itemSeqs.length === 0) return byItem
  const rows = await db
    .selectFrom('asset')
    .select(COLUMNS)
    .where(sql<boolean>`item_seq = any(${itemSeqs}::bigint[])`)
    .orderBy('item_seq')
    .orderBy(sql`key <> 'data'`)
    .orderBy('ordinal', (order) => order.nullsLast())
    .orderBy('key')
    .execute()
  for (const row of rows) byItem.get(row.itemSeq)!.push(row)
  return byItem
}

export async function list(db: Db, itemSeq: number): Promise<Asset[]> {
  return (await listOf(db, [itemSeq])).get(itemSeq)!
}

/** An asset of another item is rejected like one that does not exist. */
export async function requireOf(db: Db, itemSeq: number, id: string): Promise<Asset> {
  const row = isUuid(id)
    ? await db.selectFrom('asset').select(COLUMNS).where('id', '=', id).where('item_seq', '=', itemSeq).executeTakeFirst()
    : undefined
  if (!row) throw accessDenied()
  return row
}

/** By ID only, for callers who check access themselves. */
export async function find(db: Db, id: string): Promise<Asset | null> {
  return (await db.selectFrom('asset').select(COLUMNS).where('id', '=', id).executeTakeFirst()) ?? null
}

/** By ID or key. 404 for an asset of another item. */
export async function requireNamed(db: Db, itemSeq: number, idOrKey: string): Promise<Asset> {
  const assets = await list(db, itemSeq)
  const asset = assets.find(({ id }) => id === idOrKey.toLowerCase()) ?? assets.find(({ key }) => key === idOrKey)
  if (!asset) throw notFound('asset of this item')
  return asset
}

/** The primary assets of an item: the one with the key `data`, otherwise those with the role `data`. */
const primariesOf = (assets: readonly Asset[]): readonly Asset[] => {
  const named = assets.filter(({ key }) => key === 'data')
  return named.length > 0 ? named : assets.filter(({ roles }) => roles.includes('data'))
}

/** The primary asset; of several, the first. */
export async function requirePrimary(db: Db, itemSeq: number): Promise<Asset> {
  const assets = await list(db, itemSeq)
  const primary = primariesOf(assets)[0] ?? assets[0]
  if (!primary) throw problem('bad-request', 'This item has no assets')
  return primary
}

/** What a catalogue states about one band. */
export interface StatedBand {
  name: string | null
  commonName: string | null
  dataType: string | null
}

/** The bands that the STAC metadata of a registered asset states. */
export function statedBands({ raster }: Pick<Asset, 'raster'>): StatedBand[] | null {
  const bands = raster?.['stac_bands']
  return Array.isArray(bands) ? (bands as StatedBand[]) : null
}

/** The caller has locked the item's row. 404 if the asset was deleted meanwhile. */
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

/** Deletes one asset and releases its storage. The caller has locked the item's row, so the last primary asset cannot be removed. */
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

/** New rows that share the files: each counts as storage, and the file stays until the last row is deleted. */
export function copies(assets: readonly Asset[]): { from: string; asset: NewAsset }[] {
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
    const copy: NewAsset =
      asset.objectKey === null
        ? { ...described, href: asset.href!, fileSizeBytes: asset.fileSizeBytes }
        : { ...described, bucket: asset.bucket!, objectKey: asset.objectKey, fileSizeBytes: asset.fileSizeBytes!, sha256: asset.sha256 }
    return { from: asset.id, asset: copy }
  })
}

/**
 * The host is checked when pixels are read, because the list of allowed hosts can change and a registered URL cannot. Plain http is
 * only for hosts that the operator allowed.
 */
export function requireHref(href: string, field: string, raster: Pick<RasterService, 'canRead'>): string {
  if (UNSENDABLE.test(href)) throw invalidField(field, 'must not contain control characters; percent-encode them')
  const url = URL.parse(href)
  if (!url || (url.protocol !== 'https:' && !raster.canRead(href))) throw invalidField(field, 'must be an https URL')
  if (url.username || url.password) throw invalidField(field, 'must not contain a user name or password')
  return PLAIN.test(href) ? href : url.href // Encoded for use in a header, which is ASCII only.
}

// oxlint-disable-next-line no-control-regex
const UNSENDABLE = /[\u0000-\u001f\u007f-\u009f]/
const PLAIN = /^[\x20-\x7e]*$/

/** The service does not redirect to a host that it would not read from; the caller must fetch such a file itself. */
export function requireReachable(asset: Pick<Asset, 'key' | 'objectKey' | 'href'>, raster: Pick<RasterService, 'canRead'>): void {
  if (isElsewhere(asset, raster)) throw problem('bad-request', elsewhere(asset))
}

const isElsewhere = ({ objectKey, href }: Pick<Asset, 'objectKey' | 'href'>, raster: Pick<RasterService, 'canRead'>): boolean =>
  objectKey === null && !raster.canRead(href!)

const elsewhere = ({ key, href }: Pick<Asset, 'key' | 'href'>): string => `The asset '${key}' is not stored here; download it from ${href}`

/** The stable URL of an asset, never a presigned one. */
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

/** Other spellings of an extension, which a name may already have. */
const LONG_ENDINGS: Readonly<Record<string, RegExp>> = { '.tif': /\.tiff$/i, '.jpg': /\.jpeg$/i }

/** The file name of a download: the item's name with the extension of the media type. */
export function fileNameOf({ key, mediaType, objectKey }: Pick<Asset, 'key' | 'mediaType' | 'objectKey'>, itemName: string): string {
  const ending = ENDINGS.find(([type]) => type.test(mediaType ?? ''))?.[1] ?? /\.[A-Za-z0-9]{1,8}$/.exec(objectKey ?? '')?.[0] ?? ''
  const base = itemName.replace(LONG_ENDINGS[ending] ?? '', '')
  const plain = ending !== '' && base.toLowerCase().endsWith(ending) ? base.slice(0, -ending.length) : base
  return `${plain.replaceAll(/[/\\]/g, '_')}${key === 'data' ? '' : ` ${key.replaceAll(/[/\\]/g, '_')}`}${ending}`
}

type AssetFile = Pick<Asset, 'key' | 'state' | 'bucket' | 'objectKey' | 'href'>

/** A file of a stack, and its band. */
export interface StackAsset {
  file: AssetFile
  band: StackBand
}

/**
 * The source of an asset's pixels, or of those of a stack; 400 while its file is being converted. With a raster service, files of a
 * stack on hosts that it does not read from are not opened.
 */
export function rasterSourceOf(
  { stack, ...asset }: AssetFile & { stack?: readonly StackAsset[] },
  raster?: Pick<RasterService, 'canRead'>,
): RasterSource {
  if (asset.state === 'converting') throw problem('asset-not-ready', notReady(asset.key))
  if (!stack) return fileSourceOf(asset)
  return {
    stack: stack.map(({ file, band }) => ({
      ...band,
      source: fileSourceOf(file),
      ...(file.state === 'converting'
        ? { problem: notReady(file.key) }
        : raster && isElsewhere(file, raster)
          ? { problem: elsewhere(file) }
          : {}),
    })),
  }
}

const fileSourceOf = ({ bucket, objectKey, href }: AssetFile): FileSource =>
  objectKey === null ? { url: href! } : { object: { bucket: bucket!, key: objectKey } }

const notReady = (key: string): string =>
  `The asset '${key}' is still being converted to a cloud-optimized GeoTIFF; uploads.progress returns its progress`

/** Adds stored files to an existing item. The caller has locked the project and the item, and chosen free keys. */
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

/** The first free key of `data`, `data_2`, `data_3`… */
export function freeKey(base: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const key = number === 1 ? base : `${base}_${number}`
    if (!taken.has(key)) return key
  }
}
