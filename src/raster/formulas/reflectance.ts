import type { RasterInfo } from '#raster/types.ts'

/** Integers that say nothing of themselves are usually reflectances times 10,000, those of 8 bits fill their range. */
const USUAL_SCALE = 0.0001
const BYTE_SCALES: Readonly<Record<string, number>> = { uint8: 1 / 255, int8: 1 / 127 }

/** From samples to reflectances of 0 to 1: as the file says, else as the sensor does, else as is usual for its type. */
export function reflectanceScaleOf({ bands, dataType }: Pick<RasterInfo, 'bands' | 'dataType'>, ofSensor?: number): number {
  const stated = bands[0]?.scale ?? 1
  if (stated !== 1) return stated
  if (dataType.startsWith('float')) return 1
  return BYTE_SCALES[dataType] ?? ofSensor ?? USUAL_SCALE
}
