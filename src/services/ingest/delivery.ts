/** Ingests a vendor's delivery: streams the files of a scene to the project's bucket, inspects them and makes them one item. */
import { isMediaType } from '#core/file-names.ts'
import { newId } from '#core/ids.ts'
import type { NewFile } from '#model/imagery/asset.ts'
import { gsdIn, type NewItem } from '#model/imagery/item-write.ts'
import type { Services } from '#context.ts'
import type { DeliveredFile } from '#ports/vendors/shop.ts'
import { acquiredAt, bandNamesOf, initialProfile, groundSampleDistance, rasterFacts } from '#raster/ingest/facts.ts'
import { isCloudOptimized, type Inspection } from '#raster/ingest/inspect.ts'
import { groundPixelM } from '#raster/stack/grid.ts'
import type { RasterInfo } from '#raster/types.ts'
import { COG_TYPE, newKey, placeOf, projectionOf, PROJECTION_EXTENSION } from './intake.ts'

/** Larger than any scene that a vendor sells. */
const MAX_FILE_BYTES = 200 * 1024 ** 3
/** Of a file that is kept as it is. */
const MAX_OTHER_BYTES = 256 * 1024 ** 2
/** The key of the main raster of an item. */
const PRIMARY = 'data'
const UNKNOWN_TYPE = 'application/octet-stream'

type IngestContext = Pick<Services, 'storage' | 'raster'> & { signal: AbortSignal }

/** One file of an item, with its bytes. */
interface FileBody {
  file: DeliveredFile
  body: () => AsyncIterable<Uint8Array>
}

interface ItemFacts {
  bucket: string
  orderId: string
  name: string
  /** Of the ordered scene, if neither the vendor nor the file says when it was acquired. */
  acquiredAt: string | null
}

interface ObjectPlace {
  bucket: string
  key: string
}

export interface DeliveredItem {
  /** Where its files are stored. */
  places: readonly ObjectPlace[]
  item: NewItem
  /** Rasters of the role `data`. */
  rasters: { key: string; info: RasterInfo }[]
  /** Null if it has one file per band: its style then follows from all of them. */
  style: (ReturnType<typeof initialProfile> & { assetKey: string | null }) | null
}

/** Makes one item of the files. Throws a `RasterError` for a file that is not a readable raster, and removes all of them. */
export async function ingestDelivery(context: IngestContext, files: readonly FileBody[], facts: ItemFacts): Promise<DeliveredItem> {
  const places: ObjectPlace[] = []
  try {
    const ingested: IngestedFile[] = []
    for (const { file, body } of files) {
      const at = { bucket: facts.bucket, key: newKey(file.fileName) }
      places.push(at)
      ingested.push(await ingestFile(context, file, at, body()))
    }
    const rasters = ingested.filter((each): each is IngestedRaster => each.raster !== null && each.file.role === 'data')
    const main = mainOf(rasters)
    return {
      places,
      item: toItem(
        main,
        facts,
        ingested.map(({ asset }) => asset),
      ),
      rasters: rasters.map(({ file, raster }) => ({ key: file.assetKey, info: raster.info })),
      style: styleOf(main, rasters),
    }
  } catch (error) {
    await Promise.allSettled(places.map((at) => context.storage.remove(at))) // Otherwise the sweep removes them.
    throw error
  }
}

interface IngestedFile {
  file: DeliveredFile
  asset: NewFile
  raster: { info: RasterInfo; inspection: Inspection } | null
}
type IngestedRaster = IngestedFile & { raster: NonNullable<IngestedFile['raster']> }

async function ingestFile(
  context: IngestContext,
  file: DeliveredFile,
  at: ObjectPlace,
  body: AsyncIterable<Uint8Array>,
): Promise<IngestedFile> {
  const { storage, signal } = context
  const isRaster = file.role === 'data' || file.role === 'mask'
  const contentType = isRaster ? COG_TYPE : isMediaType(file.mediaType) ? file.mediaType : UNKNOWN_TYPE
  const maxBytes = file.bytes ?? (isRaster ? MAX_FILE_BYTES : MAX_OTHER_BYTES)
  const stored = await storage.put(at, body, { contentType, maxBytes, signal })
  if (!isRaster) return { file, asset: toAsset(file, contentType, { ...at, ...stored }), raster: null }
  const { info, inspection, ...kept } = await cloudOptimized(context, at, stored, file.role === 'mask')
  return {
    file,
    asset: { ...toAsset(file, contentType, { ...at, ...kept }), ...factsOf(file, info, inspection) },
    raster: { info, inspection },
  }
}

/** The raster that describes the item: the one with the key `data`, otherwise the finest. */
function mainOf(rasters: readonly IngestedRaster[]): IngestedRaster {
  const sizes = rasters.map(({ raster }) => groundPixelM(raster.info))
  return rasters.find(({ file }) => file.assetKey === PRIMARY) ?? rasters[sizes.indexOf(Math.min(...sizes))]!
}

function styleOf({ file, asset, raster }: IngestedRaster, rasters: readonly IngestedRaster[]): DeliveredItem['style'] {
  const assetKey = file.assetKey === PRIMARY ? null : file.assetKey
  const isStack = assetKey !== null && rasters.filter((each) => each.raster.info.bandCount === 1).length > 1
  return isStack ? null : { ...initialProfile(raster.info, asset.bandNames!, false), assetKey }
}

interface Stored {
  size: number
  sha256: string
}

/** Rewrites the object in place unless it is a COG already; not every vendor delivers COGs. */
async function cloudOptimized(
  { storage, raster, signal }: IngestContext,
  at: { bucket: string; key: string },
  stored: Stored,
  isCategorical: boolean,
): Promise<Stored & { info: RasterInfo; inspection: Inspection }> {
  const before = await raster.describe({ object: at }, signal)
  let kept = stored
  if (!isCloudOptimized(before)) {
    const converted = await raster.convert({ object: at }, { isCategorical, signal })
    try {
      kept = await storage.put(at, { path: converted.path }, { contentType: COG_TYPE, signal })
    } finally {
      await converted.remove()
    }
  }
  const info = kept === stored ? before : await raster.describe({ object: at }, signal)
  return { size: kept.size, sha256: kept.sha256, info, inspection: await raster.inspect({ object: at }, signal) }
}

function toAsset(file: DeliveredFile, mediaType: string, { bucket, key, size, sha256 }: Stored & ObjectPlace): NewFile {
  return {
    id: newId(),
    key: file.assetKey,
    title: file.fileName,
    mediaType,
    roles: [file.role],
    bucket,
    objectKey: key,
    fileSizeBytes: size,
    sha256: Buffer.from(sha256, 'hex'),
    bandNames: null,
    raster: null,
    state: 'ready',
  }
}

function factsOf(file: DeliveredFile, info: RasterInfo, { statistics }: Inspection): Pick<NewFile, 'bandNames' | 'raster'> {
  const stated = file.bands.map(({ name }) => name)
  return {
    bandNames: stated.length === info.bandCount && new Set(stated).size === stated.length ? stated : bandNamesOf(info),
    raster: rasterFacts(info, statistics, file.role === 'mask'),
  }
}

/** We read the projection from the file; the vendor's may describe the whole scene or use another version of the extension. */
const withoutProjection = (properties: DeliveredFile['properties']): Record<string, unknown> =>
  Object.fromEntries(Object.entries(properties).filter(([name]) => !name.startsWith('proj:')))

function toItem(
  { file, raster: { info, inspection } }: IngestedRaster,
  { orderId, name, acquiredAt: ordered }: ItemFacts,
  assets: readonly NewFile[],
): NewItem {
  const datetime = file.datetime ?? acquiredAt(info)?.toISOString() ?? ordered
  return {
    ...placeOf(inspection.outline),
    id: newId(),
    collectionId: null,
    stacId: file.sceneId,
    type: 'satellite_capture',
    name,
    description: null,
    datetime: datetime === null ? null : new Date(datetime),
    startDatetime: null,
    endDatetime: null,
    cloudCover: file.cloudCover,
    gsd: gsdIn(file.properties) ?? groundSampleDistance(info),
    properties: { ...withoutProjection(file.properties), ...projectionOf(info) },
    stacExtensions: [PROJECTION_EXTENSION],
    orderId,
    uploadId: null,
    jobId: null,
    assets,
  }
}
