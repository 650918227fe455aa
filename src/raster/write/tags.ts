import type { SampleType } from '#raster/tiff/sample.ts'
import { formatGdalMetadata, type MetadataItem } from '#raster/tiff/gdal-metadata.ts'
import { COMPRESSION, PHOTOMETRIC, SUBFILE, TAG } from '#raster/tiff/tags.ts'
import { bytesPerSample } from '#raster/tiff/sample.ts'
import { geoTags } from './geo-tags.ts'
import type { TagValue } from './tag-value.ts'
import type { CogPlan, LevelShape } from '#raster/write/spec.ts'

export interface BlockPlaces {
  readonly offsets: readonly number[]
  readonly sizes: readonly number[]
}

const SAMPLE_FORMAT = { uint: 1, int: 2, float: 3 } as const
const UNASSOCIATED_ALPHA = 2

export function imageTags(plan: CogPlan, index: number, places: BlockPlaces): TagValue[] {
  const shape = plan.levels[index] as LevelShape
  const { bandCount, spec } = plan
  const tags: TagValue[] = [
    ...blockTags(shape, plan.blockSize, places),
    { tag: TAG.newSubfileType, type: 'long', values: [index === 0 ? 0 : SUBFILE.reducedResolution] },
    { tag: TAG.bitsPerSample, type: 'short', values: repeat(bytesPerSample(spec.dataType) * 8, bandCount) },
    { tag: TAG.compression, type: 'short', values: [COMPRESSION[plan.compression]] },
    { tag: TAG.photometric, type: 'short', values: [photometric(plan)] },
    { tag: TAG.samplesPerPixel, type: 'short', values: [bandCount] },
    { tag: TAG.planarConfiguration, type: 'short', values: [1] },
    { tag: TAG.predictor, type: 'short', values: [plan.predictor] },
    { tag: TAG.sampleFormat, type: 'short', values: repeat(sampleFormat(spec.dataType), bandCount) },
    ...extraSampleTags(plan),
    ...paletteTags(plan),
  ]
  if (plan.nodata !== null) tags.push({ tag: TAG.gdalNodata, type: 'ascii', text: nodataText(plan.nodata) })
  if (index === 0) tags.push(...geoTags(spec), ...metadataTags(plan))
  return tags.toSorted((a, b) => a.tag - b.tag)
}

export function maskTags(plan: CogPlan, index: number, places: BlockPlaces): TagValue[] {
  const shape = plan.levels[index] as LevelShape
  const tags: TagValue[] = [
    ...blockTags(shape, plan.blockSize, places),
    { tag: TAG.newSubfileType, type: 'long', values: [SUBFILE.mask | (index === 0 ? 0 : SUBFILE.reducedResolution)] },
    { tag: TAG.bitsPerSample, type: 'short', values: [1] },
    { tag: TAG.compression, type: 'short', values: [COMPRESSION.deflate] },
    { tag: TAG.photometric, type: 'short', values: [PHOTOMETRIC.transparencyMask] },
    { tag: TAG.samplesPerPixel, type: 'short', values: [1] },
    { tag: TAG.planarConfiguration, type: 'short', values: [1] },
    { tag: TAG.sampleFormat, type: 'short', values: [SAMPLE_FORMAT.uint] },
  ]
  return tags.toSorted((a, b) => a.tag - b.tag)
}

function blockTags(shape: LevelShape, blockSize: number, places: BlockPlaces): TagValue[] {
  return [
    { tag: TAG.imageWidth, type: 'long', values: [shape.width] },
    { tag: TAG.imageLength, type: 'long', values: [shape.height] },
    { tag: TAG.tileWidth, type: 'short', values: [blockSize] },
    { tag: TAG.tileLength, type: 'short', values: [blockSize] },
    { tag: TAG.tileOffsets, type: 'offset', values: places.offsets },
    { tag: TAG.tileByteCounts, type: 'long', values: places.sizes },
  ]
}

function photometric(plan: CogPlan): number {
  if (plan.spec.colorTable) return PHOTOMETRIC.palette
  return isRgb(plan) ? PHOTOMETRIC.rgb : PHOTOMETRIC.minIsBlack
}

function isRgb({ bands }: CogPlan): boolean {
  return bands[0]?.color === 'red' && bands[1]?.color === 'green' && bands[2]?.color === 'blue'
}

function extraSampleTags(plan: CogPlan): TagValue[] {
  const base = isRgb(plan) ? 3 : 1
  if (plan.bandCount <= base) return []
  const values = Array.from({ length: plan.bandCount - base }, (_, i) => (base + i === plan.alphaBand ? UNASSOCIATED_ALPHA : 0))
  return [{ tag: TAG.extraSamples, type: 'short', values }]
}

/** All reds, then greens, then blues, in 16 bits. */
function paletteTags({ spec: { colorTable } }: CogPlan): TagValue[] {
  if (!colorTable) return []
  const channel = (c: number): number[] => Array.from({ length: 256 }, (_, i) => (colorTable[i * 4 + c] ?? 0) * 257)
  return [{ tag: TAG.colorMap, type: 'short', values: [...channel(0), ...channel(1), ...channel(2)] }]
}

function sampleFormat(dataType: SampleType['dataType']): number {
  if (dataType.startsWith('float')) return SAMPLE_FORMAT.float
  return dataType.startsWith('uint') ? SAMPLE_FORMAT.uint : SAMPLE_FORMAT.int
}

function nodataText(nodata: number): string {
  if (Number.isNaN(nodata)) return 'nan'
  if (!Number.isFinite(nodata)) return nodata > 0 ? 'inf' : '-inf'
  // Integers in full: -9223372036854775808 must not become -9.2e18.
  return Number.isInteger(nodata) && Math.abs(nodata) < 2 ** 64 ? BigInt(nodata).toString() : String(nodata)
}

function metadataTags(plan: CogPlan): TagValue[] {
  const items: MetadataItem[] = Object.entries(plan.spec.metadata ?? {})
    .filter(([name]) => name !== 'AREA_OR_POINT')
    .map(([name, value]) => ({ name, value, sample: null, role: null, domain: null }))
  const firstExtra = isRgb(plan) ? 3 : 1
  plan.bands.forEach((band, sample) => {
    const add = (name: string, role: string, value: string): void => void items.push({ name, value, sample, role, domain: null })
    if (band.name) add('DESCRIPTION', 'description', band.name)
    if (band.offset) add('OFFSET', 'offset', String(band.offset))
    if (band.scale !== undefined && band.scale !== 1) add('SCALE', 'scale', String(band.scale))
    if (band.unit) add('UNITTYPE', 'unittype', band.unit)
    const isOdd = sample >= firstExtra && band.color !== undefined && band.color !== 'undefined' && sample !== plan.alphaBand
    if (isOdd) add('COLORINTERP', 'colorinterp', capitalized(band.color ?? ''))
  })
  return items.length === 0 ? [] : [{ tag: TAG.gdalMetadata, type: 'ascii', text: formatGdalMetadata(items) }]
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

function repeat(value: number, count: number): number[] {
  return Array.from({ length: count }, () => value)
}
