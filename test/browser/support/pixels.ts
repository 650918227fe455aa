/** Images of a page as numbers. */
import type { Page } from 'playwright-core'
import sharp from 'sharp'

type Clip = { x: number; y: number; width: number; height: number }

/** A part of the page: red, green and blue of each pixel. */
export const pixelsOf = async (page: Page, clip: Clip): Promise<Buffer> =>
  await sharp(await page.screenshot({ clip }))
    .removeAlpha()
    .raw()
    .toBuffer()

export const difference = (a: Buffer, b: Buffer): number => a.reduce((sum, value, index) => sum + Math.abs(value - b[index]!), 0) / a.length
export const colours = (pixels: Buffer): number =>
  new Set(Array.from({ length: pixels.length / 3 }, (_, index) => pixels.readUIntBE(index * 3, 3))).size
