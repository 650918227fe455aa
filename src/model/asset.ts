import { sql } from 'kysely'
import { isUuid, newId } from '#core/ids.ts'
import { accessDenied, invalidField, problem } from '#core/problem.ts'
import type { Db, Tx } from '#db/tables.ts'
import * as project from './project.ts'

export interface Asset {
  id: string
  itemSeq: number
  key: string
  title: string | null
  mediaType: string | null
  roles: string[]
  /** Null when the file lies elsewhere, at `href`. */
  bucket: string | null
  objectKey: string | null
  href: string | null
  fileSizeBytes: number | null
  sha256: Buffer | null
  bandNames: string[] | null
  raster: Record<string, unknown> | null
  createdAt: Date
  updatedAt: Date
}

interface Described {
  id: string
  key: string
  title: string | null
  mediaType: string | null
  roles: readonly string[]
  bandNames: readonly string[] | null
  raster: Record<string, unknown> | null
}

/** A file of ours, or an address elsewhere. */
export type NewAsset =
  | (Described & { bucket: string; objectKey: string; fileSizeBytes: number; sha256: Buffer | null })
  | (Described & { href: string; fileSizeBytes: number | null })

const COLUMNS = [
  'id', 'item_seq as itemSeq', 'key', 'title', 'media_type as mediaType', 'roles', 'bucket', 'object_key as objectKey', 'href', 'file_size_bytes as fileSizeBytes', 'sha256',
  'band_names as bandNames', 'raster', 'created_at as createdAt', 'updated_at as updatedAt',
] as const

/** By item, the primary one first. */
export async function listOf(db: Db, itemSeqs: readonly number[]): Promise<Map<number, Asset[]>> {
  const found = new Map<number, Asset[]>(itemSeqs.map((seq) => [seq, []]))
  if (itemSeqs.length === 0) return found
  const rows = await db.selectFrom('asset').select(COLUMNS).where(sql<boolean>`item_seq = any(${itemSeqs}::bigint[])`).orderBy('item_seq').orderBy(sql`key <> 'data'`).orderBy('key').execute()
  for (const row of rows) found.get(row.itemSeq)!.push(row)
  return found
}

export async function list(db: Db, itemSeq: number): Promise<Asset[]> {
  return (await listOf(db, [itemSeq])).get(itemSeq)!
}

/** An asset that is not of this item is refused, whether it exists or not. */
export async function requireOf(db: Db, itemSeq: number, id: string): Promise<Asset> {
  const row = isUuid(id) ? await db.selectFrom('asset').select(COLUMNS).where('id', '=', id).where('item_seq', '=', itemSeq).executeTakeFirst() : undefined
  if (!row) throw accessDenied()
  return row
}

/** The asset that an item is about: key `data`, else the ones with the role. */
const primariesOf = (assets: readonly Asset[]): readonly Asset[] => {
  const named = assets.filter(({ key }) => key === 'data')
  return named.length > 0 ? named : assets.filter(({ roles }) => roles.includes('data'))
}

/** Deletes one asset and returns its room. The caller holds the item's row, so the last primary one cannot slip away. */
export async function remove(tx: Tx, where: { itemSeq: number; projectId: string; now: Date }, id: string): Promise<Asset> {
  const assets = await list(tx, where.itemSeq)
  const asset = assets.find((candidate) => candidate.id === id)
  if (!asset) throw accessDenied()
  const primaries = primariesOf(assets)
  const rest = primariesOf(assets.filter((candidate) => candidate !== asset))
  if (primaries.includes(asset) && rest.length === 0) throw problem('bad-request', 'This is the last primary data asset of its item; delete the item instead')
  await tx.deleteFrom('asset').where('id', '=', id).execute()
  await project.account(tx, where.projectId, { bytes: asset.objectKey === null ? 0 : -(asset.fileSizeBytes ?? 0) }, where.now)
  return asset
}

/** A row of its own for each, on the same files: it counts by itself, and the file stays until the last row is gone. */
export function copies(assets: readonly Asset[]): { from: string; made: NewAsset }[] {
  return assets.map((asset) => {
    const described = { id: newId(), key: asset.key, title: asset.title, mediaType: asset.mediaType, roles: asset.roles, bandNames: asset.bandNames, raster: asset.raster }
    const made: NewAsset = asset.objectKey === null
      ? { ...described, href: asset.href!, fileSizeBytes: asset.fileSizeBytes }
      : { ...described, bucket: asset.bucket!, objectKey: asset.objectKey, fileSizeBytes: asset.fileSizeBytes!, sha256: asset.sha256 }
    return { from: asset.id, made }
  })
}

/** Which host it may be is asked when its pixels are read: a list of hosts changes, a registered address does not. */
export function requireHttps(href: string, field: string): string {
  const url = URL.canParse(href) ? new URL(href) : null
  if (url?.protocol !== 'https:') throw invalidField(field, 'must be an https address')
  if (url.username || url.password) throw invalidField(field, 'must not carry a user name or password')
  return href
}

/** Where an asset can be asked for: stable, and never a presigned address. */
export function addressOf(asset: Pick<Asset, 'href' | 'key'>, itemId: string, baseUrl: string): string {
  return asset.href ?? `${baseUrl}/api/v1/items/${encodeURIComponent(itemId)}/assets/${encodeURIComponent(asset.key)}`
}

/** Where an asset's pixels are read from. */
export function rasterSourceOf({ bucket, objectKey, href }: Pick<Asset, 'bucket' | 'objectKey' | 'href'>): { url: string } | { object: { bucket: string; key: string } } {
  return objectKey === null ? { url: href! } : { object: { bucket: bucket!, key: objectKey } }
}
