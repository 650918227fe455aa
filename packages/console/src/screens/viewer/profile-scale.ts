/** Where the values of a profile are in its chart. */
import type { Output } from '../../api/contract.ts'

export type ProfileSample = Output<'items.line'>['samples'][number]

export const COLOURS = ['--c1', '--c2', '--c3'] as const

interface Extent {
  low: number
  high: number
}

/** Null if there is no value at all. A constant has room above and below. */
export function extentOf(samples: readonly Pick<ProfileSample, 'values'>[]): Extent | null {
  const all = samples.flatMap(({ values }) => values.filter((value): value is number => value !== null))
  if (all.length === 0) return null
  const [low, high] = [Math.min(...all), Math.max(...all)]
  return low === high ? { low: low - 1, high: high + 1 } : { low, high }
}

/** The line of one band, in parts: it is interrupted where there is no data. */
export function linePath(
  samples: readonly Pick<ProfileSample, 'values' | 'distance_m'>[],
  band: number,
  { low, high }: Extent,
  { width, height }: { width: number; height: number },
): string {
  const lengthM = samples.at(-1)?.distance_m || 1
  let isDrawing = false
  return samples
    .map(({ distance_m, values }) => {
      const value = values[band] ?? null
      if (value === null) {
        isDrawing = false
        return ''
      }
      const command = isDrawing ? 'L' : 'M'
      isDrawing = true
      const [x, y] = [(distance_m / lengthM) * width, height - ((value - low) / (high - low)) * height]
      return `${command}${x.toFixed(1)} ${y.toFixed(1)}`
    })
    .join('')
}
