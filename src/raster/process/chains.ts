/**
 * Lines assembled from segments found row by row. Each end of a segment is identified by the grid edge it lies
 * on: two segments with an end on the same edge belong to one line. A line that cannot grow is emitted, so that memory
 * holds open lines only.
 */
interface Chain<T> {
  /** Owner of the line; lines of different owners never join. */
  readonly owner: T
  /**
   * Its points, x and y alternating, from some inner point outwards to each of its ends: it grows at both ends without being
   * reversed. The line starts with the last point of the first.
   */
  readonly sides: readonly [number[], number[]]
  /** The edges of its two ends; null at an end that cannot grow. */
  readonly ends: [number | null, number | null]
}

type Done<T> = (line: { owner: T; points: number[] }, isClosed: boolean) => void

export class Chains<T> {
  readonly #open = new Map<number, Chain<T>>()
  readonly #done: Done<T>

  /** `done` is called with every complete line. */
  constructor(done: Done<T>) {
    this.#done = done
  }

  get size(): number {
    return this.#open.size
  }

  /** Adds a segment between two edges, with its points from the first to the second; they are copied. */
  add(owner: T, from: number, to: number, points: readonly number[]): void {
    const before = this.#open.get(from)
    const after = this.#open.get(to)
    if (before && after) {
      grow(before, sideAt(before, from), points, false)
      this.#open.delete(from)
      this.#open.delete(to)
      if (before === after) this.#finish(before, true)
      else this.#join(before, sideAt(before, from), after, sideAt(after, to))
    } else if (before) this.#extend(before, from, to, points, false)
    else if (after) this.#extend(after, to, from, points, true)
    else {
      const chain: Chain<T> = { owner, sides: [[], [...points]], ends: [from, to] }
      this.#open.set(from, chain)
      this.#open.set(to, chain)
    }
  }

  /** Ends on edges that no later row touches are final. */
  settle(isFinal: (edge: number) => boolean): void {
    for (const [edge, chain] of this.#open) {
      if (!isFinal(edge)) continue
      this.#open.delete(edge)
      chain.ends[sideAt(chain, edge)] = null
      if (chain.ends[0] === null && chain.ends[1] === null) this.#finish(chain, false)
    }
  }

  #extend(chain: Chain<T>, at: number, to: number, points: readonly number[], isReversed: boolean): void {
    const side = sideAt(chain, at)
    grow(chain, side, points, isReversed)
    this.#open.delete(at)
    chain.ends[side] = to
    this.#open.set(to, chain)
  }

  /** The points of the shorter line are appended to the longer one, so that no point is moved often. */
  #join(chain: Chain<T>, oneSide: 0 | 1, other: Chain<T>, otherSide: 0 | 1): void {
    const isLonger = lengthOf(chain) >= lengthOf(other)
    const [long, longSide, short, shortSide] = isLonger ? [chain, oneSide, other, otherSide] : [other, otherSide, chain, oneSide]
    grow(long, longSide, short.sides[shortSide], true)
    grow(long, longSide, short.sides[opposite(shortSide)], false)
    const end = short.ends[opposite(shortSide)]
    long.ends[longSide] = end
    if (end !== null) this.#open.set(end, long)
    else if (long.ends[opposite(longSide)] === null) this.#finish(long, false) // Both ends were final before the piece between them came.
  }

  #finish({ owner, sides: [front, back] }: Chain<T>, isClosed: boolean): void {
    const points: number[] = []
    for (let i = front.length - 2; i >= 0; i -= 2) points.push(front[i]!, front[i + 1]!)
    for (const value of back) points.push(value)
    this.#done({ owner, points }, isClosed)
  }
}

const opposite = (side: 0 | 1): 0 | 1 => (side === 0 ? 1 : 0)
const sideAt = <T>({ ends }: Chain<T>, edge: number): 0 | 1 => (ends[0] === edge ? 0 : 1)
const lengthOf = <T>({ sides: [front, back] }: Chain<T>): number => front.length + back.length

/** Appends points at an end, without the first if it is already there. */
function grow<T>({ sides }: Chain<T>, side: 0 | 1, points: readonly number[], isReversed: boolean): void {
  const count = points.length
  if (count === 0) return
  const to = sides[side]
  const from = sides[opposite(side)]
  const first = isReversed ? count - 2 : 0
  const hasOwn = to.length > 0
  const x = hasOwn ? to[to.length - 2] : from[0]
  const y = hasOwn ? to[to.length - 1] : from[1]
  const skip = x === points[first] && y === points[first + 1] ? 2 : 0
  if (isReversed) for (let i = count - 2 - skip; i >= 0; i -= 2) to.push(points[i]!, points[i + 1]!)
  else for (let i = skip; i < count; i++) to.push(points[i]!)
}
