/** Takes uploaded files in: away from where signed addresses lead, looked at by their content, and described. */
import { displayName, keySegment, withoutEnding } from '#core/file-names.ts'
import { newId } from '#core/ids.ts'
import { Problem, problem } from '#core/problem.ts'
import type { NewFile } from '#model/imagery/asset.ts'
import { areaOf, bounds } from '#model/imagery/footprint.ts'
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
import type { RasterInfo } from '#raster/types.ts'

export const COG_TYPE = 'image/tiff; application=geotiff; profile=cloud-optimized'
const GEOTIFF_TYPE = 'image/tiff; application=geotiff'
export const PROJECTION_EXTENSION = 'https://stac-extensions.github.io/projection/v1.1.0/schema.json'
const FILES_AT_ONCE = 4
const HEAD_BYTES = 64

type Means = Pick<Context, 'storage' | 'raster' | 'signal'>

/** A file at a key that was never signed, so that it stays what it was when we looked at it. */
export interface Taken {
  file: UploadFile
  at: { bucket: string; key: string }
  size: number
  sha256: Buffer | null
  info: RasterInfo
  place: itemPlaces.Place
  /** Null: it is yet to be converted. */
  inspection: Inspection | null
  /** Where the caller says that it lies, which the conversion writes into the file. */
  position: UploadPosition | null
}

export interface Refused {
  file: UploadFile
  reason: string
  /** A position from the caller is all that it needs. */
  lacksPosition: boolean
}

export const newKey = (fileName: string): string => `assets/${newId()}/${keySegment(fileName)}`

/** What cannot be taken is told for each file; then nothing of the others is kept either. */
export async function takeIn(
  means: Means,
  upload: Upload,
  files: readonly UploadFile[],
  positions: ReadonlyMap<string, UploadPosition>,
): Promise<{ taken: Taken[]; refused: Refused[] }> {
  const made: { bucket: string; key: string }[] = []
  try {
    const results: (Taken | Refused)[] = []
    for (let first = 0; first < files.length; first += FILES_AT_ONCE) {
      const batch = files.slice(first, first + FILES_AT_ONCE)
      results.push(
        ...(await Promise.all(batch.map((file) => takeOne(means, upload, { file, position: positions.get(file.id) ?? null }, made)))),
      )
    }
    const refused = results.filter((result) => 'reason' in result)
    if (refused.length > 0) await discard(means, made)
    return { taken: results.filter((result) => 'at' in result), refused }
  } catch (error) {
    await discard(means, made)
    throw error
  }
}

/** Copies that no asset will point at. What stays because this fails is the sweep's. */
export async function discard({ storage }: Pick<Means, 'storage'>, refs: readonly { bucket: string; key: string }[]): Promise<void> {
  await Promise.allSettled(refs.map((at) => storage.remove(at)))
}

async function takeOne(
  { storage, raster, signal }: Means,
  upload: Upload,
  { file, position }: { file: UploadFile; position: UploadPosition | null },
  made: { bucket: string; key: string }[],
): Promise<Taken | Refused> {
  const at = { bucket: upload.bucket, key: newKey(file.name) }
  made.push(at)
  const { size, sha256 } = await storage.copy({ bucket: upload.bucket, key: file.objectKey }, at, signal)
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
  storage: Means['storage'],
  at: { bucket: string; key: string },
  length: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of await storage.read(at, { length, signal })) chunks.push(chunk as Uint8Array)
  return Buffer.concat(chunks)
}

/** A projection may bend an outline over itself; its box is true in any case. */
export function placeOf(outline: Outline): itemPlaces.Place {
  try {
    return itemPlaces.placeOf(areaOf(outline), null)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const [west, south, east, north] = bounds(outline)
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

export function toAsset({ file, at, size, sha256, info, inspection }: Taken, key: string, isCategorical: boolean): NewFile {
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

export function toItem({ file, info, place }: Taken, upload: Upload, asset: NewFile): itemWrite.NewItem {
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

/** Where the pixels lie, in the words of STAC's projection extension. */
export function projectionOf({ crs, width, height, transform }: RasterInfo): Record<string, unknown> {
  const [a, b, c, d, e, f] = transform!
  return { 'proj:epsg': crs?.epsg ?? null, 'proj:shape': [height, width], 'proj:transform': [b, c, a, e, f, d] }
}

/** 422 that names each file and what is wrong with it. */
export function refusal(refused: readonly Refused[], hasOthers: boolean): Problem {
  const [first] = refused
  const more = refused.length > 1 ? ` (and ${refused.length - 1} more)` : ''
  const isPositionEnough = refused.every(({ lacksPosition: isPosition }) => isPosition)
  const next = hasOthers && !isPositionEnough ? ' Upload it anew under the same name, or complete the session again without it.' : ''
  return problem(isPositionEnough ? 'position-required' : 'unreadable-raster', `${first!.file.name}: ${first!.reason}${more}.${next}`, {
    members: { errors: refused.map(({ file, reason }) => ({ field: file.name, message: reason })) },
  })
}
