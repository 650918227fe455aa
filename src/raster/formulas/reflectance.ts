import type { RasterInfo } from '#raster/types.ts'

/** Integers without a scale are usually reflectances times 10,000; 8-bit integers use their whole range. */
const USUAL_SCALE = 0.0001
const BYTE_SCALES: Readonly<Record<string, number>> = { uint8: 1 / 255, int8: 1 / 127 }

/** Factor from samples to reflectances of 0 to 1: from the file, otherwise from the sensor, otherwise the usual one of the type. */
export function reflectanceScaleOf(
  { bands, dataType, isScaled }: Pick<RasterInfo, 'bands' | 'dataType' | 'isScaled'>,
  ofSensor?: number,
): number {
  if (isScaled) return 1
  const stated = bands[0]?.scale ?? 1
  if (stated !== 1) return stated
  if (dataType.startsWith('float')) return 1
  return BYTE_SCALES[dataType] ?? ofSensor ?? USUAL_SCALE
}
