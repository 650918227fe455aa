/** The path of a tile in the middle of a box that holds nearly all of it. */
export function tileOf(root: string, box: readonly number[] | null | undefined, query = ''): string | null {
  if (!box || box.length < 4) return null
  const [west, south, east, north] = box as [number, number, number, number]
  const x = (longitude: number) => (longitude + 180) / 360
  const y = (latitude: number) => {
    const sine = Math.sin((Math.max(-85, Math.min(85, latitude)) * Math.PI) / 180)
    return 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)
  }
  const size = Math.max(x(east) - x(west), y(south) - y(north), 1e-9)
  const z = Math.max(0, Math.min(20, Math.ceil(Math.log2(1 / size))))
  const column = Math.floor(x((west + east) / 2) * 2 ** z)
  const row = Math.floor(y((south + north) / 2) * 2 ** z)
  return `${root}/tiles/${z}/${column}/${row}.webp${query}`
}
