import { decodeBlock } from '#raster/codec/decode.ts';
import type { RawGeoKeys } from '#raster/crs/geokeys.ts';
import { RasterError, throwIfAborted } from '#raster/errors.ts';
import { LIMITS } from '#raster/limits.ts';
import type { Directory } from '#raster/tiff/directory.ts';
import { blockMask, toNumbers } from '#raster/tiff/masks.ts';
import { bytesPerSample, EXACT_ARRAY } from '#raster/tiff/sample.ts';
import { assembleWindow } from '#raster/tiff/window.ts';
import type {
  Block, ExactSampleArray, PixelWindow, Raster, RasterInfo, ReadBlockOptions, ReadOptions, SampleArray, Source,
} from '#raster/types.ts';

export interface TiffLevel {
  readonly source: Source;
  readonly directory: Directory;
  readonly mask: { readonly source: Source; readonly directory: Directory } | null;
}

export interface ReadExactOptions extends ReadOptions {
  readonly interleaved?: boolean;
}

export interface RasterFiles {
  readonly source: Source;
  readonly overviews: Source | undefined;
}

interface BlockAddress {
  readonly blockX: number;
  readonly blockY: number;
  readonly rows: number;
  readonly signal: AbortSignal | undefined;
}

/** An open TIFF. It caches nothing: whoever reads many tiles keeps decoded blocks by `key`. */
export class TiffRaster implements Raster {
  readonly info: RasterInfo;
  readonly key: string;
  /** The tags that define the CRS, as stored. */
  readonly geoKeys: RawGeoKeys;
  readonly #files: RasterFiles;
  readonly #levels: readonly TiffLevel[];

  constructor(files: RasterFiles, info: RasterInfo, levels: readonly TiffLevel[], geoKeys: RawGeoKeys) {
    this.#files = files;
    this.#levels = levels;
    this.info = info;
    this.geoKeys = geoKeys;
    this.key = files.overviews ? `${files.source.key}+${files.overviews.key}` : files.source.key;
  }

  async readBlock(level: number, blockX: number, blockY: number, options: ReadBlockOptions = {}): Promise<Block> {
    const exact = await this.readExactBlock(level, blockX, blockY, options);
    return { ...exact, data: shareConverted(exact.data) };
  }

  /** As `readBlock`, with 64-bit integers as they are. */
  async readExactBlock(level: number, blockX: number, blockY: number, options: ReadBlockOptions = {}): Promise<Block<ExactSampleArray>> {
    throwIfAborted(options.signal);
    const { source, directory, mask } = this.#level(level);
    const { grid } = directory;
    if (!isIndex(blockX, grid.blocksX) || !isIndex(blockY, grid.blocksY)) {
      throw new RasterError('invalid_argument', `Level ${level} has no block ${blockX}, ${blockY}`);
    }
    const bands = this.#bands(options.bands);
    const rows = Math.min(grid.rowsOf(blockY), Math.max(1, Math.ceil(options.rows ?? Infinity)));
    const address: BlockAddress = { blockX, blockY, rows, signal: options.signal };
    const wanted = directory.planar ? withAlpha(bands, this.info) : [0];
    const [planes, maskSamples] = await Promise.all([
      Promise.all(wanted.map((plane) => this.#readPlane({ source, directory }, plane, address))),
      mask ? this.#readMask(mask, address, grid.blockWidth) : null,
    ]);
    const stride = directory.planar ? 1 : directory.bandCount;
    const data = directory.planar ? planes.slice(0, bands.length) : bands.map(() => first(planes));
    const starts = directory.planar ? bands.map(() => 0) : [...bands];
    const pixelMask = maskSamples ?? blockMask(this.info, { planes, wanted, stride, count: grid.blockWidth * rows });
    const byteLength = planes.reduce((sum, plane) => sum + plane.byteLength, pixelMask?.byteLength ?? 0);
    return { width: grid.blockWidth, height: rows, bands, data, starts, stride, mask: pixelMask, byteLength };
  }

  async readWindow(level: number, window: PixelWindow, options: ReadOptions = {}): Promise<Block> {
    const exact = await this.readExactWindow(level, window, options);
    return { ...exact, data: exact.data.map(toNumbers) };
  }

  /** As `readWindow`, with 64-bit integers as they are, and with the bands of a pixel side by side where asked for. */
  async readExactWindow(level: number, window: PixelWindow, options: ReadExactOptions = {}): Promise<Block<ExactSampleArray>> {
    const { directory } = this.#level(level);
    const { x, y, width, height } = window;
    const inside = [x, y, width, height].every(Number.isInteger) && x >= 0 && y >= 0 && width > 0 && height > 0;
    if (!inside || x + width > directory.width || y + height > directory.height) {
      throw new RasterError('invalid_argument', 'The window lies outside the level');
    }
    const bands = this.#bands(options.bands);
    const bytes = width * height * bands.length * bytesPerSample(this.info.dataType);
    if (bytes > LIMITS.windowBytes) throw new RasterError('limit_exceeded', `A window of ${bytes} bytes is too large`);
    return assembleWindow(this, { level, window, bands, interleaved: options.interleaved ?? false, signal: options.signal });
  }

  async close(): Promise<void> {
    await this.#files.source.close?.();
    await this.#files.overviews?.close?.();
  }

  #level(level: number): TiffLevel {
    const found = this.#levels[level];
    if (!found) throw new RasterError('invalid_argument', `The raster has no level ${level}`);
    return found;
  }

  #bands(bands: readonly number[] | undefined): readonly number[] {
    const count = this.info.bandCount;
    if (!bands) return Array.from({ length: count }, (_, band) => band);
    for (const band of bands) {
      if (!isIndex(band, count)) throw new RasterError('invalid_argument', `The raster has no band ${band + 1}`);
    }
    return bands;
  }

  async #readPlane(image: { source: Source; directory: Directory }, plane: number, address: BlockAddress): Promise<ExactSampleArray> {
    const { source, directory } = image;
    const { grid } = directory;
    const samplesPerPixel = directory.planar ? 1 : directory.bandCount;
    const place = await grid.place(plane, address.blockX, address.blockY);
    if (place.length === 0) return this.#emptyPlane(directory, grid.blockWidth * address.rows * samplesPerPixel);
    const storedRows = grid.rowsOf(address.blockY);
    assertStoredSize(place.length, grid.rowBytes * grid.blockHeight);
    const stored = await source.fetch(place.offset, place.length, address.signal);
    throwIfAborted(address.signal);
    const samples = await decodeBlock(directory, stored, { stored: storedRows, wanted: address.rows });
    return samples.subarray(0, grid.blockWidth * address.rows * samplesPerPixel);
  }

  /** A block that the writer left out holds nodata, or zeros. */
  #emptyPlane(directory: Directory, count: number): ExactSampleArray {
    const samples = new EXACT_ARRAY[directory.sample.dataType](count);
    const nodata = directory.isMask ? null : (this.info.bands[0]?.nodata ?? null);
    if (nodata === null) return samples;
    if (samples instanceof BigInt64Array || samples instanceof BigUint64Array) {
      if (Number.isFinite(nodata)) samples.fill(BigInt(Math.trunc(nodata)));
    } else samples.fill(nodata);
    return samples;
  }

  /** The mask's blocks may be cut otherwise than the image's, so it is read as a window and padded to the block. */
  async #readMask(mask: { source: Source; directory: Directory }, address: BlockAddress, blockWidth: number): Promise<Uint8Array> {
    const { directory } = mask;
    const out = new Uint8Array(blockWidth * address.rows);
    const level = this.#levels.find((candidate) => candidate.mask === mask);
    const blockHeight = level?.directory.grid.blockHeight ?? directory.grid.blockHeight;
    const left = address.blockX * blockWidth;
    const top = address.blockY * blockHeight;
    const width = Math.min(blockWidth, directory.width - left);
    const height = Math.min(address.rows, directory.height - top);
    const { grid } = directory;
    for (let by = Math.floor(top / grid.blockHeight); by * grid.blockHeight < top + height; by++) {
      for (let bx = Math.floor(left / grid.blockWidth); bx * grid.blockWidth < left + width; bx++) {
        const samples = await this.#readPlane(mask, 0, { ...address, blockX: bx, blockY: by, rows: grid.rowsOf(by) });
        const from = { samples, x: bx * grid.blockWidth, y: by * grid.blockHeight, width: grid.blockWidth, height: grid.rowsOf(by) };
        copyMask(from, out, { x: left, y: top, width, height, rowLength: blockWidth });
      }
    }
    return out;
  }
}

interface MaskPart {
  readonly samples: ExactSampleArray;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Copies the common part; any sample but 0 means data. */
function copyMask(from: MaskPart, out: Uint8Array, to: PixelWindow & { rowLength: number }): void {
  const x0 = Math.max(from.x, to.x);
  const x1 = Math.min(from.x + from.width, to.x + to.width);
  const y0 = Math.max(from.y, to.y);
  const y1 = Math.min(from.y + from.height, to.y + to.height);
  for (let y = y0; y < y1; y++) {
    for (let x = x0; x < x1; x++) {
      const sample = from.samples[(y - from.y) * from.width + x - from.x];
      out[(y - to.y) * to.rowLength + x - to.x] = sample ? 255 : 0;
    }
  }
}

function assertStoredSize(stored: number, decoded: number): void {
  const most = decoded * LIMITS.storedBlockGrowth + LIMITS.storedBlockSlackBytes;
  if (stored > most) throw new RasterError('corrupt', `A block of ${decoded} bytes is stored in ${stored} bytes`);
}

function isIndex(value: number, count: number): boolean {
  return Number.isInteger(value) && value >= 0 && value < count;
}

/** A planar file must also read its alpha plane where that is the mask. */
function withAlpha(bands: readonly number[], info: RasterInfo): number[] {
  const alpha = info.maskKind === 'alpha' ? info.alphaBand : null;
  return alpha === null || bands.includes(alpha) ? [...bands] : [...bands, alpha];
}

function first<T>(items: readonly T[]): T {
  const item = items[0];
  if (item === undefined) throw new RasterError('corrupt', 'The raster has no samples');
  return item;
}

/** Converts each array once even where all bands share it. */
function shareConverted(data: readonly ExactSampleArray[]): SampleArray[] {
  const converted = new Map<ExactSampleArray, SampleArray>();
  return data.map((samples) => {
    const known = converted.get(samples) ?? toNumbers(samples);
    converted.set(samples, known);
    return known;
  });
}
