/** Longitude and latitude. A height from the caller is kept but not used. */
export type Position = [number, number]

/** West, south, east and north of some positions. */
export function boundsOf(positions: Iterable<readonly [number, number]>): [number, number, number, number] {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const [x, y] of positions) {
    if (x < west) west = x
    if (x > east) east = x
    if (y < south) south = y
    if (y > north) north = y
  }
  return [west, south, east, north]
}
