import { decodesPartially } from '#raster/codec/decode.ts'
import { crsFromGeoKeys, degreesAUnit } from '#raster/crs/from-geo-keys.ts'
import { isPixelPoint, parseCitations, parseGeoKeys, readRawGeoKeys, type RawGeoKeys } from '#raster/crs/geokeys.ts'
import { crsFromEpsg } from '#raster/crs/registry.ts'
import { RasterError } from '#raster/errors.ts'
import { canHold, colorTable, describeBands, invertedGrayTable, isBitmap, parseNodata } from '#raster/tiff/bands.ts'
import type { TiffImage } from '#raster/tiff/blocks.ts'
import { readDirectory, type Directory } from '#raster/tiff/directory.ts'
import { Fields, type TagBudget } from '#raster/tiff/fields.ts'
import { parseGdalMetadata, type MetadataItem } from './gdal-metadata.ts'
import { fitsDegrees, georeferenceByRpc, inUnits, readGeoreference, scaleTransform } from '#raster/tiff/georeference.ts'
import { readContainer, readSubIfds, type Container } from '#raster/tiff/ifd.ts'
import { TiffRaster, type TiffLevel } from '#raster/tiff/raster.ts'
import { PHOTOMETRIC, SUBFILE, TAG } from '#raster/tiff/tags.ts'
import type { Affine, Level, MaskKind, RasterInfo, Source } from '#raster/types.ts'

/** The CRS of camera models. */
const WGS84_EPSG = 4326

interface OpenOptions {
  /** The `.ovr` file beside the raster, whose directories are further levels. */
  readonly overviews?: Source
  readonly signal?: AbortSignal | undefined
}

/** Opens a TIFF: reads and validates all its directories, but no pixels. */
export async function openTiff(source: Source, options: OpenOptions = {}): Promise<TiffRaster> {
  const budget: TagBudget = { bytes: 0 }
  const chain = await readContainer(source, options.signal)
  const first = chain.ifds[0]
  if (!first) throw new RasterError('corrupt', 'The TIFF has no directory')
  const context = { littleEndian: chain.littleEndian, budget, signal: options.signal }
  const fields = new Fields(source, first, context)
  const main = await readDirectory(source, fields, chain.littleEndian)
  const below = await readSubIfds(source, chain, (await fields.numbers(TAG.subIfds)) ?? [], options.signal)
  const container = { ...chain, ifds: [...chain.ifds, ...below] }
  const others = await readOthers(source, container, { budget, signal: options.signal, from: 1 })
  if (options.overviews) {
    const extra = await readContainer(options.overviews, options.signal)
    others.push(...(await readOthers(options.overviews, extra, { budget, signal: options.signal, from: 0 })))
  }
  const levels = pairLevels({ source, directory: main }, others)
  const geoKeys = await readRawGeoKeys(fields)
  const info = await describe(fields, main, { container, levels, geoKeys })
  return new TiffRaster({ source, overviews: options.overviews }, info, levels, geoKeys)
}

/** The directories after the first, or all of an overview file. Pages that are not overviews or masks are skipped. */
async function readOthers(
  source: Source,
  container: Container,
  context: { budget: TagBudget; signal: AbortSignal | undefined; from: number },
): Promise<TiffImage[]> {
  const images: TiffImage[] = []
  for (const ifd of container.ifds.slice(context.from)) {
    const fields = new Fields(source, ifd, { littleEndian: container.littleEndian, ...context })
    const subfile = await fields.number(TAG.newSubfileType, 0)
    if ((subfile & (SUBFILE.reducedResolution | SUBFILE.mask)) === 0) continue
    const directory = await readIfSupported(source, fields, container.littleEndian)
    if (directory) images.push({ source, directory })
  }
  return images
}

/** A preview with an unsupported codec must not prevent reading the raster itself. */
async function readIfSupported(source: Source, fields: Fields, littleEndian: boolean): Promise<Directory | null> {
  try {
    return await readDirectory(source, fields, littleEndian)
  } catch (error) {
    if (error instanceof RasterError && error.code === 'unsupported') return null
    throw error
  }
}

/** Full resolution and overviews from fine to coarse, each with its mask. */
function pairLevels(main: TiffImage, others: readonly TiffImage[]): TiffLevel[] {
  const masks = others.filter((image) => image.directory.isMask)
  const maskOf = ({ directory }: TiffImage): TiffImage | null =>
    masks.find((mask) => mask.directory.width === directory.width && mask.directory.height === directory.height) ?? null
  const levels: TiffLevel[] = [{ ...main, mask: maskOf(main) }]
  const overviews = others
    .filter((image) => !image.directory.isMask && isOverviewOf(image.directory, main.directory))
    .toSorted((a, b) => b.directory.width * b.directory.height - a.directory.width * a.directory.height)
  for (const image of overviews) {
    const finer = levels.at(-1)
    const mask = maskOf(image)
    // A level without its mask would show pixels without data: skip it.
    const lacksMask = levels[0]?.mask !== null && mask === null
    if (!lacksMask && finer && isSmaller(image.directory, finer.directory)) levels.push({ ...image, mask })
  }
  return levels
}

function isOverviewOf(overview: Directory, main: Directory): boolean {
  const sameSamples = overview.bandCount === main.bandCount && overview.sample.dataType === main.sample.dataType
  return sameSamples && isSmaller(overview, main)
}

function isSmaller(a: Directory, b: Directory): boolean {
  return a.width <= b.width && a.height <= b.height && a.width * a.height < b.width * b.height
}

async function describe(
  fields: Fields,
  main: Directory,
  file: { container: Container; levels: readonly TiffLevel[]; geoKeys: RawGeoKeys },
): Promise<RasterInfo> {
  const keys = parseGeoKeys(file.geoKeys.directory, file.geoKeys.doubles)
  const pixelIsPoint = isPixelPoint(keys)
  const stored = await readGeoreference(fields, pixelIsPoint)
  const own = inUnits(stored, degreesAUnit(keys, fitsDegrees(stored, main)))
  const georeference = own.transform
    ? own
    : { ...(await georeferenceByRpc(fields, main)), ...(own.gcps.length > 0 ? { gcps: own.gcps } : {}) }
  const items = parseGdalMetadata((await fields.text(TAG.gdalMetadata)) ?? '')
  const nodata = parseNodata(await fields.text(TAG.gdalNodata), main.sample.dataType)
  const hasMask = file.levels[0]?.mask != null
  // A mask in the file takes precedence, as in GDAL; a value that no sample can have is ignored.
  const marker = nodata !== null && !hasMask && canHold(main.sample.dataType, nodata) ? nodata : null
  const bands = describeBands(main, items, marker)
  const alpha = bands.findIndex((band) => band.color === 'alpha')
  const alphaBand = alpha < 0 ? null : alpha
  return {
    width: main.width,
    height: main.height,
    bandCount: main.bandCount,
    dataType: main.sample.dataType,
    bitsPerSample: main.sample.bits,
    bands,
    levels: file.levels.map(({ directory }) => describeLevel(directory, main, georeference.transform)),
    ...georeference,
    ...(georeference.placedBy === 'rpc'
      ? { crs: crsFromEpsg(WGS84_EPSG), crsProblem: null }
      : crsFromGeoKeys(keys, parseCitations(file.geoKeys))),
    times: { items: items.map(({ name, value }) => [name, value] as const), tag: await fields.text(TAG.dateTime) },
    maskKind: maskKind(hasMask, marker, alphaBand),
    declaredNodata: nodata,
    alphaBand,
    colorTable: await readColorTable(fields, main, nodata),
    metadata: datasetMetadata(items, pixelIsPoint),
    compression: main.compression,
    interleave: main.planar ? 'band' : 'pixel',
    byteOrder: file.container.littleEndian ? 'little' : 'big',
    bigTiff: file.container.bigTiff,
  }
}

async function readColorTable(
  fields: Fields,
  { photometric, sample, bandCount }: Directory,
  nodata: number | null,
): Promise<Uint8Array | null> {
  if (photometric === PHOTOMETRIC.palette) return colorTable(await fields.numbers(TAG.colorMap), sample.bits, nodata)
  if (photometric === PHOTOMETRIC.minIsWhite && bandCount === 1) return invertedGrayTable(sample.bits)
  if (isBitmap({ sample, bandCount })) return Uint8Array.of(0, 0, 0, 255, 255, 255, 255, 255)
  return null
}

/**
 * A mask in the file takes precedence. Beside an alpha band a nodata value still counts: kernels compare it for any
 * kind, as gdalwarp does.
 */
function maskKind(hasMask: boolean, nodata: number | null, alphaBand: number | null): MaskKind {
  if (hasMask) return 'internal'
  if (alphaBand !== null) return 'alpha'
  return nodata === null ? 'none' : 'nodata'
}

function describeLevel(directory: Directory, main: Directory, transform: Affine | null): Level {
  const { grid, width, height } = directory
  return {
    width,
    height,
    blockWidth: grid.blockWidth,
    blockHeight: grid.blockHeight,
    blocksX: grid.blocksX,
    blocksY: grid.blocksY,
    transform: transform && scaleTransform(transform, main.width / width, main.height / height),
    partialRows: decodesPartially(directory),
  }
}

function datasetMetadata(items: readonly MetadataItem[], pixelIsPoint: boolean): Readonly<Record<string, string>> {
  const metadata: Record<string, string> = Object.create(null) as Record<string, string>
  metadata['AREA_OR_POINT'] = pixelIsPoint ? 'Point' : 'Area'
  for (const item of items) {
    if (item.sample === null && item.domain === null && item.name !== '') metadata[item.name] = item.value
  }
  return metadata
}
