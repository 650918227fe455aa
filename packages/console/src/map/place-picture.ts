/**
 * Where a preview goes on the map. Some vendors deliver a picture of the bounding box, with nothing outside the footprint; others one of
 * the footprint alone, in the direction of flight. Which it is follows from the picture itself.
 */
import { boxOf, contains, cornersOf, polygonsOf, type Box, type Position } from './geo.ts'
import type { Picture } from './shared-map.ts'

type Corners = Picture['corners']

interface PlacedPicture extends Omit<Picture, 'id'> {
  /** Its address belongs to whoever asked, who takes it back after use. */
  isOwn: boolean
}

/** Samples along each side of a picture. */
export const GRID = 24
/** Of the samples outside the footprint, as many are empty in a picture of the bounding box. */
const MIN_EMPTY = 0.75
/** With fewer samples outside, the footprint fills its box. */
const MIN_OUTSIDE = 0.04
const MAX_SIDE_PX = 1_024
/** Larger alpha is visible; a darker pixel of a picture without alpha is no ground. */
const MIN_ALPHA = 32
const MAX_DARK = 24

export const boxCorners = ([west, south, east, north]: Box): Corners => [
  [west, north],
  [east, north],
  [east, south],
  [west, south],
]

/** Red, green, blue and alpha of GRID × GRID samples, row by row from the north. */
export function fillsBox(footprint: GeoJSON.Geometry, box: Box, samples: ArrayLike<number>): boolean {
  let outside = 0
  let empty = 0
  for (let row = 0; row < GRID; row++)
    for (let column = 0; column < GRID; column++) {
      const at: Position = [box[0] + ((column + 0.5) / GRID) * (box[2] - box[0]), box[3] - ((row + 0.5) / GRID) * (box[3] - box[1])]
      if (contains(footprint, at)) continue
      outside++
      const [red = 0, green = 0, blue = 0, alpha = 0] = [0, 1, 2, 3].map((channel) => samples[(row * GRID + column) * 4 + channel])
      if (alpha < MIN_ALPHA || red + green + blue < MAX_DARK) empty++
    }
  return outside < MIN_OUTSIDE * GRID * GRID || empty >= MIN_EMPTY * outside
}

/** The picture at an address, cut to the footprint, and where it goes; null if the place is not known. */
export async function placePicture(address: string, footprint: GeoJSON.Geometry | null): Promise<PlacedPicture | null> {
  const box = boxOf(footprint)
  if (!footprint || !box) return null
  const image = new Image()
  image.src = address
  await image.decode()
  const grid = drawn(image, GRID, GRID)
  if (!fillsBox(footprint, box, grid.getImageData(0, 0, GRID, GRID).data)) {
    const corners = cornersOf(footprint)
    return corners && { url: address, corners, isOwn: false }
  }
  const scale = Math.min(1, MAX_SIDE_PX / Math.max(image.naturalWidth, image.naturalHeight))
  const [width, height] = [Math.max(1, Math.round(image.naturalWidth * scale)), Math.max(1, Math.round(image.naturalHeight * scale))]
  const cut = drawn(image, width, height, (context) => {
    context.beginPath()
    for (const ring of polygonsOf(footprint).flat()) {
      ring.forEach(([x, y], index) => {
        const [left, top] = [((x - box[0]) / (box[2] - box[0])) * width, ((box[3] - y) / (box[3] - box[1])) * height]
        if (index === 0) context.moveTo(left, top)
        else context.lineTo(left, top)
      })
      context.closePath()
    }
    context.clip('evenodd')
  })
  const blob = await new Promise<Blob | null>((resolve) => cut.canvas.toBlob(resolve))
  return blob && { url: URL.createObjectURL(blob), corners: boxCorners(box), isOwn: true }
}

function drawn(image: HTMLImageElement, width: number, height: number, prepare?: (context: CanvasRenderingContext2D) => void) {
  const canvas = document.createElement('canvas')
  Object.assign(canvas, { width, height })
  const context = canvas.getContext('2d', { willReadFrequently: true })!
  prepare?.(context)
  context.drawImage(image, 0, 0, width, height)
  return context
}
