/** An area in an address of the console: its corners as an encoded polyline. */
type Box = readonly [west: number, south: number, east: number, north: number]

export function boxInAddress([west, south, east, north]: Box): string {
  let last = [0, 0]
  let text = ''
  for (const corner of [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
  ]) {
    const now = corner.map((degrees) => Math.round(degrees * 1e5))
    text += now.map((part, index) => encoded(part - last[index]!)).join('')
    last = now
  }
  return text
}

function encoded(value: number): string {
  let rest = value < 0 ? ~(value << 1) : value << 1
  let text = ''
  for (; rest >= 0x20; rest >>>= 5) text += String.fromCharCode((0x20 | (rest & 0x1f)) + 63)
  return text + String.fromCharCode(rest + 63)
}
