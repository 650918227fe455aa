/** Ingests uploaded files: copies them away from their signed URLs, checks their content and describes them. */
import { boundsOf } from '#core/position.ts'
import { displayName, keySegment, withoutEnding } from '#core/file-names.ts'
import { newId } from '#core/ids.ts'
import { Problem, problem } from '#core/problem.ts'
import type { NewFile } from '#model/imagery/asset.ts'
import { areaOf } from '#model/imagery/footprint.ts'
import * as itemPlaces from '#model/imagery/item-place.ts'
import type * as itemWrite from '#model/imagery/item-write.ts'
import type { Upload } from '#model/imagery/upload.ts'
import type { UploadFile, UploadPosition } from '#model/imagery/upload-file.ts'
import type { Context } from '#operation.ts'
import { acquiredAt, bandNamesOf, groundSampleDistance, positionNote, rasterFacts } from '#raster/ingest/facts.ts'
import { isCloudOptimized, type Inspection } from '#raster/ingest/inspect.ts'
import { extentOutline, type Outline } from '#raster/ingest/outline.ts'
import { positioned } from '#raster/ingest/position.ts'
import { lacksPosition, refusalOf, unlikeTiff } from '#raster/ingest/refusal.ts'
import { objectMissing } from '#ports/storage.ts'
import type { RasterInfo } from '#raster/types.ts'

export const COG_TYPE = 'image/tiff; application=geotiff; profile=cloud-optimized'
const GEOTIFF_TYPE = 'image/tiff; application=geotiff'
export const PROJECTION_EXTENSION = 'https://stac-extensions.github.io/projection/v1.1.0/schema.json'
const FILE_CONCURRENCY = 4
const HEAD_BYTES = 64

type IngestContext = Pick<Context, 'storage' | 'raster' | 'signal'>

/** An uploaded file. `isSealed`: no signed URL can replace it, so that it need not be copied before it is checked. */
export interface UploadedFile {
  file: UploadFile
  at: { bucket: string; key: string }
  isSealed: boolean
}

/** A file at a key that was never signed, so that nobody can replace it after the check. */
export interface IngestedFile {
  file: UploadFile
  at: { bucket: string; key: string }
  isCopy: boolean
  size: number
  sha256: Buffer | null
  info: RasterInfo
  place: itemPlaces.Place
  /** Null if the file still has to be converted. */
  inspection: Inspection | null
  /** The caller's position, which the conversion writes into the file. */
  position: UploadPosition | null
}

export interface RejectedFile {
  file: UploadFile
  reason: string
  /** Whether a position from the caller would make the file acceptable. */
  lacksPosition: boolean
}

export const newKey = (fileName: string): string => `assets/${newId()}/${keySegment(fileName)}`

/** All files or none: if one is rejected, the copies of the others are removed too. */
export async function ingestFiles(
  context: IngestContext,
  upload: Upload,
  files: readonly UploadedFile[],
  positions: ReadonlyMap<string, UploadPosition>,
): Promise<{ ingested: IngestedFile[]; rejected: RejectedFile[] }> {
  const copies: { bucket: string; key: string }[] = []
  try {
    const results: (IngestedFile | RejectedFile)[] = []
    for (let first = 0; first < files.length; first += FILE_CONCURRENCY) {
      const batch = files.slice(first, first + FILE_CONCURRENCY)
      results.push(
        ...(await Promise.all(
          batch.map((uploaded) => ingestFile(context, upload, { ...uploaded, position: positions.get(uploaded.file.id) ?? null }, copies)),
        )),
      )
    }
    const rejected = results.filter((result) => 'reason' in result)
    if (rejected.length > 0) await discard(context, copies)
    return { ingested: results.filter((result) => 'at' in result), rejected }
  } catch (error) {
    await discard(context, copies)
    throw error
  }
}

/** Removes copies that no asset will reference. The sweep removes what this fails to remove. */
export async function discard(
  { storage }: Pick<IngestContext, 'storage'>,
  refs: readonly { bucket: string; key: string }[],
): Promise<void> {
  await Promise.allSettled(refs.map((at) => storage.remove(at)))
}

async function ingestFile(
  { storage, raster, signal }: IngestContext,
  upload: Upload,
  { file, at: from, isSealed, position }: UploadedFile & { position: UploadPosition | null },
  copies: { bucket: string; key: string }[],
): Promise<IngestedFile | RejectedFile> {
  const at = isSealed ? from : { bucket: upload.bucket, key: newKey(file.name) }
  if (!isSealed) copies.push(at)
  const stored = isSealed ? await storage.stat(from, signal) : await storage.copy(from, at, signal)
  if (!stored) throw objectMissing()
  const { size, sha256 } = stored
  const reason = unlikeTiff(await headOf(storage, at, Math.min(size, HEAD_BYTES), signal))
  if (reason) return { file, reason, lacksPosition: false }
  try {
    const own = await raster.describe({ object: at }, signal)
    const info = position ? positioned(own, position) : own
    const extent = extentOutline(info)
    const isReady = !position && isCloudOptimized(info) && !(upload.isCategorical && info.levels.length > 1)
    const inspection = isReady ? await raster.inspect({ object: at }, signal) : null
    return {
      file,
      at,
      isCopy: !isSealed,
      size,
      sha256: sha256 === null ? null : Buffer.from(sha256, 'hex'),
      info,
      inspection,
      place: placeOf(inspection?.outline ?? extent),
      position,
    }
  } catch (error) {
    const fault = refusalOf(error)
    if (!fault) throw error
    return { file, reason: fault, lacksPosition: lacksPosition(error) }
  }
}

async function headOf(
  storage: IngestContext['storage'],
  at: { bucket: string; key: string },
  length: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of await storage.read(at, { length, signal })) chunks.push(chunk as Uint8Array)
  return Buffer.concat(chunks)
}

/** A projection can make an outline intersect itself; its bounding box is always valid. */
export function placeOf(outline: Outline): itemPlaces.Place {
  try {
    return itemPlaces.placeOf(areaOf(outline), null)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const [west, south, east, north] = boundsOf(outline)
    return itemPlaces.placeOf(
      areaOf([
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south],
      ]),
      null,
    )
  }
}

export function toAsset({ file, at, size, sha256, info, inspection }: IngestedFile, key: string, isCategorical: boolean): NewFile {
  return {
    id: newId(),
    key,
    title: file.name,
    mediaType: inspection ? COG_TYPE : GEOTIFF_TYPE,
    roles: ['data'],
    bucket: at.bucket,
    objectKey: at.key,
    fileSizeBytes: size,
    sha256,
    bandNames: bandNamesOf(info),
    raster: rasterFacts(info, inspection?.statistics ?? null, isCategorical),
    state: inspection ? 'ready' : 'converting',
  }
}

export function toItem({ file, info, place }: IngestedFile, upload: Upload, asset: NewFile): itemWrite.NewItem {
  const id = newId()
  const note = positionNote(info)
  return {
    ...place,
    id,
    collectionId: upload.targetCollectionId,
    stacId: id,
    type: 'user_raster',
    name: withoutEnding(displayName(file.name)),
    description: null,
    datetime: acquiredAt(info),
    startDatetime: null,
    endDatetime: null,
    cloudCover: null,
    gsd: groundSampleDistance(info),
    properties: { ...projectionOf(info), ...(note === null ? {} : { position_note: note }) },
    stacExtensions: [PROJECTION_EXTENSION],
    orderId: null,
    uploadId: upload.id,
    jobId: null,
    assets: [asset],
  }
}

/** The fields of STAC's projection extension. */
export function projectionOf({ crs, width, height, transform }: RasterInfo): Record<string, unknown> {
  const [a, b, c, d, e, f] = transform!
  return { 'proj:epsg': crs?.epsg ?? null, 'proj:shape': [height, width], 'proj:transform': [b, c, a, e, f, d] }
}

/** A problem that names each rejected file and the reason. */
export function rejection(rejected: readonly RejectedFile[], hasOthers: boolean): Problem {
  const [first] = rejected
  const more = rejected.length > 1 ? ` (and ${rejected.length - 1} more)` : ''
  const isPositionEnough = rejected.every((file) => file.lacksPosition)
  const next = hasOthers && !isPositionEnough ? ' Upload it again under the same name, or complete the session without it.' : ''
  return problem(isPositionEnough ? 'position-required' : 'unreadable-raster', `${first!.file.name}: ${first!.reason}${more}.${next}`, {
    members: { errors: rejected.map(({ file, reason }) => ({ field: file.name, message: reason })) },
  })
}
