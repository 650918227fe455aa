/** The longest round length that fits: 1, 2 or 5 times a power of ten. */
export function scaleBar(metresPerPixel: number, maxPixels: number): { metres: number; pixels: number } {
  const most = metresPerPixel * maxPixels
  const power = 10 ** Math.floor(Math.log10(most))
  const metres = ([5, 2, 1].find((factor) => factor * power <= most * 1.000_001) ?? 1) * power
  return { metres, pixels: metres / metresPerPixel }
}
