/** A row of reflectances, painted layer by layer. */
export class Canvas {
  readonly values: Float64Array
  readonly bandCount: number

  constructor(width: number, bandCount: number) {
    this.values = new Float64Array(width * bandCount)
    this.bandCount = bandCount
  }

  /** Covers a fraction of pixel `i` with a material, brighter or darker by `gain`. */
  over(i: number, spectrum: Float64Array, share: number, gain: number): void {
    if (share <= 0) return
    const { values, bandCount } = this
    const keep = share >= 1 ? 0 : 1 - share
    const add = (share >= 1 ? 1 : share) * gain
    for (let b = 0, at = i * bandCount; b < bandCount; b++, at++) values[at] = values[at]! * keep + spectrum[b]! * add
  }

  light(i: number, gain: number): void {
    const { values, bandCount } = this
    for (let b = 0, at = i * bandCount; b < bandCount; b++, at++) values[at]! *= gain
  }
}

/** The fraction of a pixel that a line of this half width covers, at a distance between their centres. */
export function lineCover(distanceM: number, halfM: number, gsdM: number): number {
  const half = gsdM / 2
  const inside = Math.min(distanceM + half, halfM) - Math.max(distanceM - half, -halfM)
  return inside <= 0 ? 0 : Math.min(1, inside / gsdM)
}
