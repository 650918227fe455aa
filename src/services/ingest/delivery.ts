/** Ingests a vendor's delivery: streams the file to the project's bucket, inspects it and makes it an item. */
import { newId } from '#core/ids.ts'
import type { NewFile } from '#model/imagery/asset.ts'
import { gsdIn, type NewItem } from '#model/imagery/item-write.ts'
import type { Services } from '#context.ts'
import { bandNamesOf, initialProfile, groundSampleDistance, rasterFacts } from '#raster/ingest/facts.ts'
import { isCloudOptimized, type Inspection } from '#raster/ingest/inspect.ts'
import type { RasterInfo } from '#raster/types.ts'
import { COG_TYPE, newKey, placeOf, projectionOf, PROJECTION_EXTENSION } from './intake.ts'

/** Larger than any scene that a vendor sells. */
const MAX_FILE_BYTES = 200 * 1024 ** 3

type IngestContext = Pick<Services, 'storage' | 'raster'> & { signal: AbortSignal }

/** A file with its vendor's metadata. */
interface VendorFile {
  fileName: string
  sceneId: string
  bytes: number | null
  datetime: string
  cloudCover: number | null
  bands: readonly { name: string }[]
  properties: Readonly<Record<string, unknown>>
}

export interface DeliveredItem {
  at: { bucket: string; key: string }
  item: NewItem
  style: ReturnType<typeof initialProfile>
}

/** Throws a `RasterError` for a file that is not a readable raster, and removes it. */
export async function ingestDelivery(
  context: IngestContext,
  file: VendorFile,
  { bucket, orderId, name }: { bucket: string; orderId: string; name: string },
  body: AsyncIterable<Uint8Array>,
): Promise<DeliveredItem> {
  const { storage, signal } = context
  const at = { bucket, key: newKey(file.fileName) }
  try {
    const stored = await storage.put(at, body, { contentType: COG_TYPE, maxBytes: file.bytes ?? MAX_FILE_BYTES, signal })
    const { info, inspection, size, sha256 } = await cloudOptimized(context, at, stored)
    const asset = toAsset(file, info, inspection, { ...at, size, sha256 })
    return { at, item: toItem(file, info, inspection, { orderId, name, asset }), style: initialProfile(info, asset.bandNames!, false) }
  } catch (error) {
    await storage.remove(at).catch(() => {}) // Otherwise the sweep removes it.
    throw error
  }
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
): Promise<Stored & { info: RasterInfo; inspection: Inspection }> {
  const before = await raster.describe({ object: at }, signal)
  let kept = stored
  if (!isCloudOptimized(before)) {
    const converted = await raster.convert({ object: at }, { isCategorical: false, signal })
    try {
      kept = await storage.put(at, { path: converted.path }, { contentType: COG_TYPE, signal })
    } finally {
      await converted.remove()
    }
  }
  const info = kept === stored ? before : await raster.describe({ object: at }, signal)
  return { size: kept.size, sha256: kept.sha256, info, inspection: await raster.inspect({ object: at }, signal) }
}

function toAsset(
  file: VendorFile,
  info: RasterInfo,
  { statistics }: Inspection,
  { bucket, key, size, sha256 }: Stored & { bucket: string; key: string },
): NewFile {
  const stated = file.bands.map(({ name }) => name)
  return {
    id: newId(),
    key: 'data',
    title: file.fileName,
    mediaType: COG_TYPE,
    roles: ['data'],
    bucket,
    objectKey: key,
    fileSizeBytes: size,
    sha256: Buffer.from(sha256, 'hex'),
    bandNames: stated.length === info.bandCount && new Set(stated).size === stated.length ? stated : bandNamesOf(info),
    raster: rasterFacts(info, statistics, false),
    state: 'ready',
  }
}

/** We read the projection from the file; the vendor's may describe the whole scene or use another version of the extension. */
const withoutProjection = (properties: VendorFile['properties']): Record<string, unknown> =>
  Object.fromEntries(Object.entries(properties).filter(([name]) => !name.startsWith('proj:')))

function toItem(
  file: VendorFile,
  info: RasterInfo,
  { outline }: Inspection,
  { orderId, name, asset }: { orderId: string; name: string; asset: NewFile },
): NewItem {
  return {
    ...placeOf(outline),
    id: newId(),
    collectionId: null,
    stacId: file.sceneId,
    type: 'satellite_capture',
    name,
    description: null,
    datetime: new Date(file.datetime),
    startDatetime: null,
    endDatetime: null,
    cloudCover: file.cloudCover,
    gsd: gsdIn(file.properties) ?? groundSampleDistance(info),
    properties: { ...withoutProjection(file.properties), ...projectionOf(info) },
    stacExtensions: [PROJECTION_EXTENSION],
    orderId,
    uploadId: null,
    jobId: null,
    assets: [asset],
  }
}
