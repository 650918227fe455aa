import { RasterError } from '#raster/errors.ts';
import type { TiffRaster } from '#raster/tiff/raster.ts';
import { EXACT_ARRAY } from '#raster/tiff/sample.ts';
import type { Block, ExactSampleArray, RasterInfo } from '#raster/types.ts';
import { writeCog, type WriteOptions, type WrittenCog } from '#raster/write/cog.ts';
import type { ByteSink } from '#raster/write/sink.ts';
import type { CogSpec, CogCompression, OverviewMethod } from '#raster/write/spec.ts';

export interface ConvertOptions extends WriteOptions {
  readonly blockSize?: number;
  readonly compression?: CogCompression;
  readonly compressionLevel?: number;
  readonly overviews?: OverviewMethod;
}

/**
 * Rewrites any readable TIFF as a COG with the same samples, mask, georeference, palette and
 * descriptions. Odd widths become whole types (4-bit to uint8, half floats to float32).
 */
export async function convertToCog(raster: TiffRaster, sink: ByteSink, options: ConvertOptions = {}): Promise<WrittenCog> {
  const spec = specOf(raster, options);
  const rows = new RowBuffer(raster);
  return writeCog(sink, spec, (y, count, signal) => rows.read(y, count, signal), options);
}

function specOf(raster: TiffRaster, options: ConvertOptions): CogSpec {
  const { info } = raster;
  if (info.colorTable && info.dataType !== 'uint8') throw new RasterError('unsupported', 'Palettes of more than 8 bits are not supported');
  const isClasses = info.colorTable !== null || info.bitsPerSample === 1;
  return {
    width: info.width,
    height: info.height,
    dataType: info.dataType === 'float16' ? 'float32' : info.dataType,
    bandCount: info.bandCount,
    transform: info.transform,
    geoKeys: raster.geoKeys.directory.length > 0 ? raster.geoKeys : null,
    nodata: info.bands[0]?.nodata ?? null,
    hasMask: info.maskKind === 'internal',
    bands: info.bands,
    colorTable: info.colorTable,
    metadata: metadataOf(info),
    overviews: options.overviews ?? (isClasses ? 'mode' : 'average'),
    ...(options.blockSize === undefined ? {} : { blockSize: options.blockSize }),
    ...(options.compression === undefined ? {} : { compression: options.compression }),
    ...(options.compressionLevel === undefined ? {} : { compressionLevel: options.compressionLevel }),
  };
}

/** Ground control points are replaced by their fit, whose quality stays on record. */
function metadataOf(info: RasterInfo): Record<string, string> {
  const residual = info.gcpResidualPx === null ? {} : { GCP_RESIDUAL_PX: info.gcpResidualPx.toFixed(3) };
  return { ...info.metadata, ...residual };
}

/**
 * Rows of a raster whose blocks are cut otherwise than the ones to write: blocks are decoded once,
 * a row of blocks at a time, and rows that were decoded too early wait here.
 */
class RowBuffer {
  readonly #raster: TiffRaster;
  #held: { y: number; block: Block<ExactSampleArray> } | null = null;

  constructor(raster: TiffRaster) {
    this.#raster = raster;
  }

  async read(y: number, rows: number, signal: AbortSignal | undefined): Promise<Block<ExactSampleArray>> {
    const { info } = this.#raster;
    const blockHeight = info.levels[0]?.blockHeight ?? rows;
    const held = this.#held;
    const heldEnd = held ? held.y + held.block.height : y;
    if (held && held.y <= y && y + rows <= heldEnd) return this.#slice([held], y, rows);
    const from = held && heldEnd > y ? heldEnd : y;
    const to = Math.min(info.height, Math.ceil((y + rows) / blockHeight) * blockHeight);
    const block = await this.#raster.readExactWindow(0, { x: 0, y: from, width: info.width, height: to - from }, { signal });
    this.#held = { y: from, block };
    return this.#slice(held && heldEnd > y ? [held, this.#held] : [this.#held], y, rows);
  }

  #slice(parts: readonly { y: number; block: Block<ExactSampleArray> }[], y: number, rows: number): Block<ExactSampleArray> {
    const { width, bandCount, dataType } = this.#raster.info;
    const bands = Array.from({ length: bandCount }, (_, band) => band);
    const data = bands.map(() => new EXACT_ARRAY[dataType](width * rows));
    const hasMask = parts.some(({ block }) => block.mask);
    const mask = hasMask ? new Uint8Array(width * rows).fill(255) : null;
    for (const part of parts) {
      const first = Math.max(y, part.y);
      const last = Math.min(y + rows, part.y + part.block.height);
      if (last <= first) continue;
      const from = (first - part.y) * width;
      const to = (last - part.y) * width;
      const at = (first - y) * width;
      bands.forEach((band) => {
        (data[band] as Uint8Array).set((part.block.data[band] as Uint8Array).subarray(from, to), at);
      });
      if (part.block.mask) mask?.set(part.block.mask.subarray(from, to), at);
    }
    const byteLength = data.reduce((sum, samples) => sum + samples.byteLength, mask?.byteLength ?? 0);
    return { width, height: rows, bands, data, starts: bands.map(() => 0), stride: 1, mask, byteLength };
  }
}
