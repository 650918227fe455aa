import { RasterError } from '#raster/errors.ts'
import { positioned, type Position } from '#raster/ingest/position.ts'
import type { ExactRaster } from '#raster/tiff/raster.ts'
import type { RasterInfo } from '#raster/types.ts'
import { writeCog, type WriteOptions, type WrittenCog } from '#raster/write/cog.ts'
import { interleavedBlock, RowBuffer } from '#raster/write/rows.ts'
import type { ByteSink } from '#raster/write/sink.ts'
import type { CogSpec, CogCompression, OverviewMethod } from '#raster/write/spec.ts'

export interface ConvertOptions extends WriteOptions {
  readonly blockSize?: number
  readonly compression?: CogCompression
  readonly compressionLevel?: number
  readonly overviews?: OverviewMethod
  /** Overrides the file's own georeference. */
  readonly position?: Position | undefined
}

/**
 * Rewrites any readable TIFF as a COG with the same samples, mask, georeference, palette and
 * descriptions. Odd widths become whole types (4-bit to uint8, half floats to float32).
 */
export async function convertToCog(raster: ExactRaster, sink: ByteSink, options: ConvertOptions = {}): Promise<WrittenCog> {
  const spec = specOf(raster, options)
  const { width, height } = raster.info
  const bands = raster.info.bands.map((_, band) => band)
  const rows = new RowBuffer({ raster, x: 0, width, bands, endY: height })
  return writeCog(sink, spec, async (y, count, signal) => interleavedBlock(await rows.read(y, count, signal), width, bands.length), options)
}

function specOf(raster: ExactRaster, options: ConvertOptions): CogSpec {
  const info = options.position ? positioned(raster.info, options.position) : raster.info
  const hasOwnKeys = raster.geoKeys.directory.length > 0 && info.placedBy !== 'rpc' && info.placedBy !== 'caller'
  if (info.colorTable && info.dataType !== 'uint8') throw new RasterError('unsupported', 'Palettes of more than 8 bits are not supported')
  const isClasses = info.colorTable !== null || info.bitsPerSample === 1
  return {
    width: info.width,
    height: info.height,
    dataType: info.dataType === 'float16' ? 'float32' : info.dataType,
    bandCount: info.bandCount,
    transform: info.transform,
    geoKeys: hasOwnKeys ? raster.geoKeys : null,
    ...(!hasOwnKeys && info.crs ? { crs: info.crs } : {}),
    nodata: info.bands[0]?.nodata ?? null,
    hasMask: info.maskKind === 'internal',
    bands: info.bands,
    colorTable: info.colorTable,
    metadata: metadataOf(info),
    overviews: options.overviews ?? (isClasses ? 'mode' : 'average'),
    ...(options.blockSize === undefined ? {} : { blockSize: options.blockSize }),
    ...(options.compression === undefined ? {} : { compression: options.compression }),
    ...(options.compressionLevel === undefined ? {} : { compressionLevel: options.compressionLevel }),
  }
}

/** Ground control points are replaced by their fit, whose residual is recorded. */
function metadataOf(info: RasterInfo): Record<string, string> {
  const { metadata, gcpResidualPx } = info
  return gcpResidualPx === null ? metadata : { ...metadata, GCP_RESIDUAL_PX: gcpResidualPx.toFixed(3) }
}
