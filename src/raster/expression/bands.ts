/** What the bands of a raster are called, told to people who named one that does not exist. */

/** More of a name would fill the sentence. */
const MAX_NAME = 40

/** `the bands are b1 (blue), b2 (green)`: each with the names that it goes by. */
export function listBands(names: Readonly<Record<string, number>>, bandCount: number): string {
  const called = Map.groupBy(Object.keys(names), (name) => names[name])
  const bands = Array.from({ length: bandCount }, (_, index) => {
    // Roles are spelled in capitals, and names often are not.
    const own = [...new Map((called.get(index + 1) ?? []).map((name) => [name.toLowerCase(), name.slice(0, MAX_NAME)])).values()]
    return `b${index + 1}${own.length > 0 ? ` (${own.join(', ')})` : ''}`
  })
  return bandCount === 1 ? `the only band is ${bands[0]}` : `the bands are ${bands.join(', ')}`
}

export const noSuchBand = (band: number, bandCount: number, names: Readonly<Record<string, number>>): string =>
  `band ${band} does not exist (there are ${bandCount}); ${listBands(names, bandCount)}`
