/**
 * Encodes the LZW of before 1992, which libtiff and GDAL still read: codes from the low bit, width
 * grown only when the table is full.
 */
export function encodeOldLzw(bytes: Uint8Array): Uint8Array {
  const bits: number[] = []
  let table = new Map<string, number>()
  let next = 258
  let width = 9
  const put = (code: number): void => {
    for (let bit = 0; bit < width; bit++) bits.push((code >> bit) & 1)
  }
  const codeOf = (text: string): number => (text.length === 1 ? text.charCodeAt(0) : (table.get(text) ?? -1))
  put(256)
  let word = ''
  for (const byte of bytes) {
    const longer = word + String.fromCharCode(byte)
    if (longer.length === 1 || table.has(longer)) {
      word = longer
      continue
    }
    put(codeOf(word))
    table.set(longer, next++)
    // The decoder's table is one entry behind.
    if (next - 1 >= 1 << width && width < 12) width++
    if (next >= 4095) {
      put(256)
      table = new Map()
      next = 258
      width = 9
    }
    word = String.fromCharCode(byte)
  }
  if (word !== '') put(codeOf(word))
  put(257)
  const out = new Uint8Array(Math.ceil(bits.length / 8))
  bits.forEach((bit, i) => (out[i >> 3]! |= bit << (i & 7)))
  return out
}
