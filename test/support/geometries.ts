/** Random and hand-made geometries, valid and invalid, the same ones for the same seed. */
import type { Position } from '#core/geometry.ts'

type Rings = Position[][]
export interface Made {
  family: string
  polygons: Rings[]
}

/** Numbers from 0 to 1, one after the other (mulberry32). */
export function dice(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const closed = (points: readonly Position[]): Position[] => [...points, [...points[0]!] as Position]
const box = (west: number, south: number, width: number, height = width): Position[] =>
  closed([
    [west, south],
    [west + width, south],
    [west + width, south + height],
    [west, south + height],
  ])

/** A ring around a place, its corners in order of their angle: it never crosses itself. */
function star(next: () => number, [x, y]: Position, radius: number, corners: number): Position[] {
  const angles = Array.from({ length: corners }, () => next() * 2 * Math.PI).toSorted((a, b) => a - b)
  return closed(
    angles.map((angle): Position => {
      const reach = radius * (0.3 + 0.7 * next())
      return [x + reach * Math.cos(angle), y + reach * Math.sin(angle)]
    }),
  )
}

type Family = (next: () => number) => Rings[]
const whole = (next: () => number, most: number): number => Math.floor(next() * (most + 1))
const gridRing = (next: () => number, most: number, corners: number): Position[] =>
  closed(Array.from({ length: corners }, (): Position => [whole(next, most), whole(next, most)]))

const RANDOM: Readonly<Record<string, Family>> = {
  star: (next) => [[star(next, [next() * 300 - 150, next() * 120 - 60], 0.001 + next() * 8, 3 + whole(next, 40))]],
  'star with holes': (next) => {
    const place: Position = [next() * 100 - 50, next() * 100 - 50]
    const holes = Array.from({ length: 1 + whole(next, 2) }, () =>
      star(next, [place[0] + next() * 4 - 2, place[1] + next() * 4 - 2], 0.2 + next(), 3 + whole(next, 6)),
    )
    return [[star(next, place, 8, 8 + whole(next, 20)), ...holes]]
  },
  'ring on a grid': (next) => [[gridRing(next, 4, 3 + whole(next, 5))]],
  'ring and hole on a grid': (next) => [
    [box(0, 0, 6), ...Array.from({ length: 1 + whole(next, 2) }, () => gridRing(next, 6, 3 + whole(next, 1)))],
  ],
  'boxes in a box': (next) => [
    [
      box(0, 0, 8),
      ...Array.from({ length: 1 + whole(next, 3) }, () => box(whole(next, 7), whole(next, 7), 1 + whole(next, 2), 1 + whole(next, 2))),
    ],
  ],
  'parts on a grid': (next) =>
    Array.from({ length: 2 + whole(next, 2) }, () => [
      next() < 0.5 ? gridRing(next, 9, 3) : box(whole(next, 8), whole(next, 8), 1 + whole(next, 3), 1 + whole(next, 3)),
    ]),
  'parts in holes': (next) => [
    [box(0, 0, 10), box(1, 1, 7 + whole(next, 1))],
    [box(1 + whole(next, 3), 1 + whole(next, 3), 1 + whole(next, 7))],
    ...(next() < 0.3 ? [[gridRing(next, 9, 3)]] : []),
  ],
  'diamonds that touch': (next) => [
    [
      box(0, 0, 8),
      ...Array.from({ length: 1 + whole(next, 4) }, () => {
        const [x, y] = [1 + whole(next, 6), 1 + whole(next, 6)]
        return closed([
          [x - 1, y],
          [x, y - 1],
          [x + 1, y],
          [x, y + 1],
        ])
      }),
    ],
  ],
}

/** Moves grid coordinates to a place where they are no whole numbers, so that rounding has its say. */
function placed(next: () => number, polygons: Rings[]): Rings[] {
  if (next() < 0.3) return polygons
  const [scale, x, y] = [0.1 + next() * 3, next() * 100 - 50, next() * 60 - 30]
  return polygons.map((rings) => rings.map((ring) => ring.map(([u, v]): Position => [x + u * scale, y + v * scale])))
}

/** Repeats a point, adds a spike or turns a ring: what is put right without a word. */
function untidied(next: () => number, polygons: Rings[]): Rings[] {
  return polygons.map((rings) =>
    rings.map((given) => {
      const ring = next() < 0.3 ? given.toReversed() : [...given]
      const at = 1 + whole(next, ring.length - 2)
      if (next() < 0.15) ring.splice(at, 0, [...ring[at]!])
      if (next() < 0.15) ring.splice(at, 0, [...ring[at]!], [ring[at]![0] + next(), ring[at]![1] + next()])
      return ring
    }),
  )
}

export function randomGeometries(seed: number, count: number): Made[] {
  const next = dice(seed)
  const families = Object.entries(RANDOM)
  return Array.from({ length: count }, (_, index) => {
    const [family, make] = families[index % families.length]!
    const polygons = make(next)
    return { family, polygons: untidied(next, family.startsWith('star') ? polygons : placed(next, polygons)) }
  })
}

const shifted = (ring: readonly Position[], x: number, y: number): Position[] => ring.map(([u, v]): Position => [u + x, v + y])

/** Faults that people and programs make, each a function of a size. */
const FAULTS: Readonly<Record<string, (size: number) => Rings[]>> = {
  'hole outside': (s) => [[box(0, 0, s), box(2 * s, 0, s / 2)]],
  'hole over the edge': (s) => [[box(0, 0, s), box(s / 2, s / 4, s)]],
  'hole equal to its outer ring': (s) => [[box(0, 0, s), box(0, 0, s).toReversed()]],
  'hole around its outer ring': (s) => [[box(s / 4, s / 4, s / 2), box(0, 0, s)]],
  'hole that shares an edge': (s) => [[box(0, 0, s), box(0, s / 4, s / 2, s / 2)]],
  'hole through a corner': (s) => [
    [
      box(0, 0, s),
      closed([
        [s / 2, s / 2],
        [s, s],
        [2 * s, s / 2],
      ]),
    ],
  ],
  'hole in a hole': (s) => [[box(0, 0, s), box(s / 8, s / 8, s / 2), box(s / 4, s / 4, s / 8)]],
  'holes that overlap': (s) => [[box(0, 0, s), box(s / 8, s / 8, s / 2), box(s / 4, s / 4, s / 2)]],
  'the same hole twice': (s) => [[box(0, 0, s), box(s / 4, s / 4, s / 4), box(s / 4, s / 4, s / 4)]],
  'hole in another part': (s) => [[box(0, 0, s)], [box(2 * s, 0, s), box(s / 4, s / 4, s / 2)]],
  'hole touching twice': (s) => [
    [
      box(0, 0, s),
      closed([
        [0, s / 2],
        [s / 2, s / 4],
        [s, s / 2],
        [s / 2, (3 * s) / 4],
      ]),
    ],
  ],
  'holes in a circle': (s) => [
    [
      box(-s, -s, 4 * s),
      ...[
        [0, 0],
        [s, 0],
        [0, s],
        [s, s],
      ].map(([x, y]) =>
        closed([
          [x! - s / 2, y!],
          [x!, y! - s / 2],
          [x! + s / 2, y!],
          [x!, y! + s / 2],
        ]),
      ),
    ],
  ],
  bowtie: (s) => [
    [
      closed([
        [0, 0],
        [s, s],
        [s, 0],
        [0, s],
      ]),
    ],
  ],
  'ring that touches itself': (s) => [
    [
      closed([
        [0, 0],
        [s, 0],
        [s, s],
        [s / 2, 0],
        [0, s],
      ]),
    ],
  ],
  'ring through one corner twice': (s) => [
    [
      closed([
        [0, 0],
        [s, 0],
        [s / 2, s / 2],
        [s, s],
        [0, s],
        [s / 2, s / 2],
      ]),
    ],
  ],
  'ring that runs over itself': (s) => [
    [
      closed([
        [0, 0],
        [s, 0],
        [s, s],
        [(3 * s) / 4, s],
        [(3 * s) / 4, 0],
        [s / 4, 0],
        [s / 4, s],
        [0, s],
      ]),
    ],
  ],
  'ring without area': (s) => [
    [
      closed([
        [0, 0],
        [s, s],
        [2 * s, 2 * s],
      ]),
    ],
  ],
  'ring walked twice': (s) => [[[...box(0, 0, s), ...box(0, 0, s).slice(1)]]],
  'parts that overlap': (s) => [[box(0, 0, s)], [box(s / 2, s / 2, s)]],
  'part in a part': (s) => [[box(0, 0, s)], [box(s / 4, s / 4, s / 4)]],
  'the same part twice': (s) => [[box(0, 0, s)], [box(0, 0, s)]],
  'parts with a common edge': (s) => [[box(0, 0, s)], [box(s, 0, s)]],
  'part that fills a hole': (s) => [[box(0, 0, s), box(s / 4, s / 4, s / 2)], [box(s / 4, s / 4, s / 2)]],
  'part over a hole': (s) => [[box(0, 0, s), box(s / 4, s / 4, s / 4)], [box(s / 4, s / 4, s / 2)]],
  'comb of crossings': (s) => [
    [closed([...Array.from({ length: 40 }, (_, i): Position => [(i * s) / 40, i % 2 ? s : 0]), [s, s / 2], [0, s / 2]])],
  ],
}

/** Every fault in many sizes and places. */
export function faultyGeometries(count: number): Made[] {
  const faults = Object.entries(FAULTS)
  return Array.from({ length: count }, (_, index) => {
    const [family, make] = faults[index % faults.length]!
    const nth = Math.floor(index / faults.length)
    const [x, y] = [((nth * 37) % 300) - 150, ((nth * 17) % 100) - 50]
    return { family, polygons: make(2 ** -(nth % 12)).map((rings) => rings.map((ring) => shifted(ring, x, y))) }
  })
}
