/**
 * Lines that grow from pieces found row by row. Each piece has two ends, and an end is known by the edge of the grid that it
 * lies on: two pieces with an end on the same edge are one line. What can grow no more is handed on, so that memory holds
 * open lines alone.
 */
interface Chain<T> {
  /** What the line is of; lines of different owners never meet. */
  readonly owner: T
  /** x and y in turn. */
  points: number[]
  /** The edges of its two ends; null at an end that can grow no more. */
  ends: [number | null, number | null]
}

export class Chains<T> {
  readonly #open = new Map<number, Chain<T>>()
  readonly #done: (chain: Chain<T>, isClosed: boolean) => void

  /** `done` is told of every line that is complete. */
  constructor(done: (chain: Chain<T>, isClosed: boolean) => void) {
    this.#done = done
  }

  get size(): number {
    return this.#open.size
  }

  /** A piece between two edges, with its points from the first to the second. */
  add(owner: T, from: number, to: number, points: readonly number[]): void {
    const before = this.#open.get(from)
    const after = this.#open.get(to)
    if (before && before === after) return this.#close(before, from, points)
    const chain: Chain<T> = before ?? { owner, points: points.slice(0, 2), ends: [from, from] }
    this.#open.delete(from)
    if (before) turn(before, from)
    push(chain.points, points)
    chain.ends[1] = to
    if (!before) this.#open.set(from, chain)
    if (after) this.#join(chain, after, to)
    else this.#open.set(to, chain)
  }

  /** Ends on edges that no later row touches are final. */
  settle(isFinal: (edge: number) => boolean): void {
    for (const [edge, chain] of this.#open) {
      if (!isFinal(edge)) continue
      this.#open.delete(edge)
      chain.ends = chain.ends.map((end) => (end === edge ? null : end)) as Chain<T>['ends']
      if (chain.ends.every((end) => end === null)) this.#done(chain, false)
    }
  }

  #close(chain: Chain<T>, from: number, points: readonly number[]): void {
    turn(chain, from)
    push(chain.points, points)
    for (const end of chain.ends) if (end !== null) this.#open.delete(end)
    this.#done(chain, true)
  }

  #join(chain: Chain<T>, after: Chain<T>, at: number): void {
    this.#open.delete(at)
    turn(after, at)
    after.points.reverse()
    swapPairs(after.points)
    push(chain.points, after.points)
    chain.ends[1] = after.ends[0]
    if (chain.ends[1] !== null) this.#open.set(chain.ends[1], chain)
    else if (chain.ends[0] === null) this.#done(chain, false) // Both ends were final before the piece between them came.
  }
}

/** Turns a line so that it ends at an edge. */
function turn<T>(chain: Chain<T>, edge: number): void {
  if (chain.ends[1] === edge) return
  chain.points.reverse()
  swapPairs(chain.points)
  chain.ends.reverse()
}

/** After all numbers were turned around: x before y again. */
function swapPairs(points: number[]): void {
  for (let i = 0; i + 1 < points.length; i += 2) [points[i], points[i + 1]] = [points[i + 1]!, points[i]!]
}

/** Without a point that stands there already. */
function push(points: number[], more: readonly number[]): void {
  const repeats = points.at(-2) === more[0] && points.at(-1) === more[1]
  for (let i = repeats ? 2 : 0; i < more.length; i++) points.push(more[i]!)
}
