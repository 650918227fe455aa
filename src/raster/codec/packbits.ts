import { RasterError } from '#raster/errors.ts'

/** Run-length encoding: n ≥ 0 copies n+1 bytes, n < 0 repeats one byte 1−n times, −128 does nothing. */
export function decodePackbits(input: Uint8Array, outputBytes: number): Uint8Array {
  const out = new Uint8Array(outputBytes)
  let at = 0
  let done = 0
  while (done < outputBytes) {
    if (at >= input.length) throw tooShort()
    const control = ((input[at++] ?? 0) << 24) >> 24
    if (control === -128) continue
    if (control >= 0) {
      const count = Math.min(control + 1, outputBytes - done)
      if (at + count > input.length) throw tooShort()
      out.set(input.subarray(at, at + count), done)
      at += control + 1
      done += count
    } else {
      if (at >= input.length) throw tooShort()
      const count = Math.min(1 - control, outputBytes - done)
      out.fill(input[at++] ?? 0, done, done + count)
      done += count
    }
  }
  return out
}

function tooShort(): RasterError {
  return new RasterError('corrupt', 'A PackBits block of the raster is damaged: it is truncated')
}
