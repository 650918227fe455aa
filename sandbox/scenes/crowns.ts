/** Single trees: each cell of a fine lattice holds a crown; a place is covered by the nearest one. */
import { chance, hash } from './noise.ts'

const LEVEL = 22
const SIZE = 2 ** LEVEL
const SEED = 700

export class Crowns {
  /** Distance to the centre of the nearest crown, in cells (about 7 m in middle latitudes), and the direction. */
  distance = 0
  dx = 0
  dy = 0
  /** Random number of that tree. */
  key = 0

  /** `ruffle` shifts the place a little, about ±1, because crowns have irregular outlines. */
  find(u: number, v: number, ruffle: number): void {
    const x = u * SIZE + 0.24 * ruffle
    const y = v * SIZE - 0.2 * ruffle
    const cellX = Math.floor(x)
    const cellY = Math.floor(y)
    let best = Infinity
    for (let row = cellY - 1; row <= cellY + 1; row++) {
      for (let column = cellX - 1; column <= cellX + 1; column++) {
        const h = hash(column & (SIZE - 1), row, SEED)
        const dx = x - column - (h & 0xffff) / 65536
        const dy = y - row - (h >>> 16) / 65536
        const distance = dx * dx + dy * dy
        if (distance < best) {
          best = distance
          this.dx = dx
          this.dy = dy
          this.key = h
        }
      }
    }
    this.distance = Math.sqrt(best)
  }

  /** Light on the crown: bright on the sunny side, dark in the gaps. `east` and `south` point to the sun. */
  light(east: number, south: number): number {
    // Small trees are lower and have dark gaps around them.
    const height = chance(this.key, 1, SEED)
    const dome = 1 - Math.min(1, this.distance * this.distance * (3.4 - 2.2 * height))
    return 0.42 + 0.6 * dome + 0.5 * (this.dx * east + this.dy * south) + 0.34 * (height - 0.4)
  }

  /** Whether a single tree covers the place, where this fraction of the cells has one. */
  isTree(share: number): boolean {
    return chance(this.key, 2, SEED) < share && this.distance < 0.3 + 0.25 * chance(this.key, 3, SEED)
  }
}
