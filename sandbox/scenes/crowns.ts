/** Trees one by one: each cell of a fine lattice holds a crown, and a place asks for the one it is nearest to. */
import { chance, hash } from './noise.ts'

const LEVEL = 22
const SIZE = 2 ** LEVEL
const SEED = 700

export class Crowns {
  /** Distance to the nearest crown's middle, in cells (about 7 m in middle latitudes), and the way there. */
  distance = 0
  dx = 0
  dy = 0
  /** Belongs to that tree. */
  key = 0

  find(u: number, v: number): void {
    const x = u * SIZE
    const y = v * SIZE
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

  /** Light on the crown: bright on the side of the sun, dark in the gaps. `east` and `south` point to the sun. */
  light(east: number, south: number): number {
    const dome = 1 - Math.min(1, this.distance * this.distance * 1.7)
    return 0.5 + 0.62 * dome + 0.55 * (this.dx * east + this.dy * south) + 0.16 * (chance(this.key, 1, SEED) - 0.5)
  }

  /** Whether a tree that stands alone covers the place, where this share of the cells has one. */
  isTree(share: number): boolean {
    return chance(this.key, 2, SEED) < share && this.distance < 0.3 + 0.25 * chance(this.key, 3, SEED)
  }
}
