/** Converts 8-bit CIE L*a*b* (a and b signed) to RGB, with libtiff's arithmetic and display model. */

/** The white point D50, TIFF's default. */
const D50 = { x: 96.425, y: 100, z: 82.468 }
const DISPLAY = [
  [3.241, -1.5374, -0.4986],
  [-0.9692, 1.876, 0.0416],
  [0.0556, -0.204, 1.057],
] as const
const [DARKEST, BRIGHTEST] = [1, 100]
const STEPS = 1500
const GAMMA = 2.4

const levels = Uint8Array.from({ length: STEPS + 1 }, (_, step) => Math.round(255 * (step / STEPS) ** (1 / GAMMA)))

/** In place; pixels of three bytes. */
export function labToColors(pixels: Uint8Array, whitePoint: readonly [number, number] | null): Uint8Array {
  const white = whitePoint ? whiteAt(whitePoint) : D50
  for (let i = 0; i + 2 < pixels.length; i += 3) {
    const lightness = (pixels[i]! * 100) / 255
    const isDark = lightness < 8.856
    const root = isDark ? (7.787 * lightness) / 903.292 + 16 / 116 : (lightness + 16) / 116
    const y = isDark ? (lightness * white.y) / 903.292 : white.y * root ** 3
    const x = white.x * cubed(signed(pixels[i + 1]!) / 500 + root)
    const z = white.z * cubed(root - signed(pixels[i + 2]!) / 200)
    for (let channel = 0; channel < 3; channel++) {
      const [ofX, ofY, ofZ] = DISPLAY[channel]!
      const light = Math.min(BRIGHTEST, Math.max(DARKEST, ofX * x + ofY * y + ofZ * z))
      pixels[i + channel] = levels[Math.floor((light - DARKEST) / ((BRIGHTEST - DARKEST) / STEPS))]!
    }
  }
  return pixels
}

const whiteAt = ([x, y]: readonly [number, number]) => ({ x: (100 * x) / y, y: 100, z: (100 * (1 - x - y)) / y })
const cubed = (root: number): number => (root < 0.2069 ? (root - 0.13793) / 7.787 : root ** 3)
const signed = (byte: number): number => (byte << 24) >> 24
