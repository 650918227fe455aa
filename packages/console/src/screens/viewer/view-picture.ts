/** The view as a picture with its legend and attribution, and as a page with a scale, north, legend, title and date. */
import type { Snapshot } from '../../map/snapshot.ts'
import { scaleBar } from '../../map/scale-bar.ts'
import { date, distance, value } from '../../ui/format.ts'
import { createPdf, isPdfText, type PdfImage, type PdfPage } from '../../ui/pdf.ts'

export interface ViewLegend {
  label: string
  low: number
  high: number
  /** Colours at positions from 0 to 1. */
  stops: readonly { position: number; color: string }[]
}

const FONT = 'system-ui, sans-serif'
const JPEG_QUALITY = 0.92

const pngOf = (canvas: HTMLCanvasElement, type = 'image/png', quality?: number): Promise<Blob> =>
  new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The browser could not encode the picture.'))), type, quality)
  })

/** The map as it is seen, with a strip below that names sources and explains colours. */
export async function viewAsPng({ canvas, attribution }: Snapshot, legend: ViewLegend | null): Promise<Blob> {
  const unit = Math.max(1, canvas.width / 1_000)
  const [size, padding] = [12 * unit, 10 * unit]
  const picture = document.createElement('canvas')
  const pen = picture.getContext('2d')!
  pen.font = `${size}px ${FONT}`
  const lines = wrapped(attribution, canvas.width - 2 * padding, (text) => pen.measureText(text).width)
  const legendHeight = legend ? size * 4 : 0
  picture.width = canvas.width
  picture.height = Math.round(canvas.height + padding * 2 + legendHeight + lines.length * size * 1.4)
  pen.fillStyle = '#ffffff'
  pen.fillRect(0, 0, picture.width, picture.height)
  pen.drawImage(canvas, 0, 0)
  pen.fillStyle = '#13202a'
  pen.font = `${size}px ${FONT}` // A canvas forgets it when its size changes.
  pen.textBaseline = 'top'
  let top = canvas.height + padding
  if (legend) {
    drawLegend(pen, legend, { left: padding, top, width: Math.min(260 * unit, canvas.width - 2 * padding), size })
    top += legendHeight
  }
  for (const line of lines) {
    pen.fillText(line, padding, top)
    top += size * 1.4
  }
  return await pngOf(picture)
}

interface LegendPlace {
  left: number
  top: number
  width: number
  size: number
}

export function drawLegend(
  pen: CanvasRenderingContext2D,
  { label, low, high, stops }: ViewLegend,
  { left, top, width, size }: LegendPlace,
): void {
  pen.fillText(label, left, top, width)
  const ramp = pen.createLinearGradient(left, 0, left + width, 0)
  for (const { position, color } of stops) ramp.addColorStop(position, color)
  pen.fillStyle = ramp
  pen.fillRect(left, top + size * 1.3, width, size * 0.8)
  pen.fillStyle = '#13202a'
  for (const [number, share, align] of [
    [low, 0, 'left'],
    [(low + high) / 2, 0.5, 'center'],
    [high, 1, 'right'],
  ] as const) {
    pen.textAlign = align
    pen.fillText(value(number), left + width * share, top + size * 2.3)
  }
  pen.textAlign = 'left'
}

/** Words in lines that fit; a single word that does not is left as it is. */
export function wrapped(text: string, width: number, measure: (text: string) => number): string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const longer = lines.length > 0 ? `${lines.at(-1)} ${word}` : word
    if (lines.length > 0 && measure(longer) <= width) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}

// A4, in points.
const [LONG_SIDE, SHORT_SIDE] = [841.89, 595.28]
const MARGIN = 34
const HEAD = 44
const FOOT = 74
const INK = [19, 32, 42] as const

interface PageTexts {
  title: string
  /** When the imagery was acquired; null if unknown. */
  datetime: string | null
  created: Date
}

export async function viewAsPdf(snapshot: Snapshot, legend: ViewLegend | null, { title, datetime, created }: PageTexts): Promise<Blob> {
  const { canvas, metresPerPixel, attribution } = snapshot
  const isWide = canvas.width >= canvas.height
  const [pageWidth, pageHeight] = isWide ? [LONG_SIDE, SHORT_SIDE] : [SHORT_SIDE, LONG_SIDE]
  const pdf = createPdf(pageWidth, pageHeight)
  const scale = Math.min((pageWidth - 2 * MARGIN) / canvas.width, (pageHeight - 2 * MARGIN - HEAD - FOOT) / canvas.height)
  const [width, height] = [canvas.width * scale, canvas.height * scale]
  const [left, top] = [(pageWidth - width) / 2, MARGIN + HEAD]
  await writeText(pdf, title, { x: MARGIN, y: MARGIN + 14, size: 16, isBold: true })
  const acquired = datetime ? `Acquired ${date(datetime)}. ` : ''
  await writeText(pdf, `${acquired}Exported ${date(created.toISOString())}.`, { x: MARGIN, y: MARGIN + 32, size: 9 })
  pdf.image(await jpegOf(canvas), left, top, width, height)
  pdf.frame(left, top, width, height)
  const foot = top + height + 12
  drawNorth(pdf, pageWidth - MARGIN - 14, foot)
  const bar = scaleBar(metresPerPixel / scale, 140)
  pdf.rectangle(MARGIN, foot + 4, bar.pixels, 3, INK)
  pdf.rectangle(MARGIN, foot, 0.8, 7, INK)
  pdf.rectangle(MARGIN + bar.pixels - 0.8, foot, 0.8, 7, INK)
  await writeText(pdf, distance(bar.metres), { x: MARGIN, y: foot + 18, size: 8 })
  if (legend) await writeLegend(pdf, legend, MARGIN + 190, foot)
  const pen = document.createElement('canvas').getContext('2d')!
  pen.font = `7px Helvetica, Arial, sans-serif`
  const lines = wrapped(attribution, pageWidth - 2 * MARGIN, (text) => pen.measureText(text).width)
  for (const [index, line] of lines.slice(0, 3).entries()) await writeText(pdf, line, { x: MARGIN, y: foot + 42 + index * 9, size: 7 })
  return pdf.save(title, created)
}

const LEGEND_WIDTH = 180
const LEGEND_STEPS = 60

async function writeLegend(pdf: PdfPage, { label, low, high, stops }: ViewLegend, left: number, top: number): Promise<void> {
  await writeText(pdf, label, { x: left, y: top + 6, size: 8, isBold: true })
  for (const [index, colour] of coloursOf(stops, LEGEND_STEPS).entries())
    pdf.rectangle(left + (index * LEGEND_WIDTH) / LEGEND_STEPS, top + 10, LEGEND_WIDTH / LEGEND_STEPS + 0.3, 8, colour)
  await writeText(pdf, value(low), { x: left, y: top + 27, size: 7 })
  await writeText(pdf, value((low + high) / 2), { x: left + LEGEND_WIDTH / 2 - 8, y: top + 27, size: 7 })
  await writeText(pdf, value(high), { x: left + LEGEND_WIDTH - 16, y: top + 27, size: 7 })
}

/** The browser blends the colours as it does for the legend on the map. */
function coloursOf(stops: ViewLegend['stops'], count: number): [number, number, number][] {
  const canvas = document.createElement('canvas')
  canvas.width = count
  canvas.height = 1
  const pen = canvas.getContext('2d')!
  const ramp = pen.createLinearGradient(0, 0, count, 0)
  for (const { position, color } of stops) ramp.addColorStop(position, color)
  pen.fillStyle = ramp
  pen.fillRect(0, 0, count, 1)
  const { data } = pen.getImageData(0, 0, count, 1)
  return Array.from({ length: count }, (_, index) => [data[index * 4]!, data[index * 4 + 1]!, data[index * 4 + 2]!])
}

/** The map is never rotated: north is up. */
function drawNorth(pdf: PdfPage, x: number, y: number): void {
  pdf.polygon(
    [
      [x, y],
      [x + 7, y + 22],
      [x, y + 17],
      [x - 7, y + 22],
    ],
    INK,
  )
  pdf.text(x - 3, y + 32, 9, 'N', true)
}

const PICTURE_SCALE = 4

interface TextPlace {
  x: number
  /** Of the baseline. */
  y: number
  size: number
  isBold?: boolean
}

/** Text that the fonts of PDF readers do not have is drawn by the browser. */
async function writeText(pdf: PdfPage, text: string, { x, y, size, isBold = false }: TextPlace): Promise<void> {
  if (isPdfText(text)) return pdf.text(x, y, size, text, isBold)
  const canvas = document.createElement('canvas')
  const pen = canvas.getContext('2d')!
  const font = `${isBold ? 'bold ' : ''}${size * PICTURE_SCALE}px ${FONT}`
  pen.font = font
  canvas.width = Math.ceil(pen.measureText(text).width) + 2
  canvas.height = Math.ceil(size * PICTURE_SCALE * 1.5)
  pen.fillStyle = '#ffffff'
  pen.fillRect(0, 0, canvas.width, canvas.height)
  pen.fillStyle = '#000000'
  pen.font = font
  pen.fillText(text, 0, size * PICTURE_SCALE * 1.1)
  pdf.image(await jpegOf(canvas), x, y - size * 1.1, canvas.width / PICTURE_SCALE, canvas.height / PICTURE_SCALE)
}

async function jpegOf(canvas: HTMLCanvasElement): Promise<PdfImage> {
  const blob = await pngOf(canvas, 'image/jpeg', JPEG_QUALITY)
  return { jpeg: new Uint8Array(await blob.arrayBuffer()), width: canvas.width, height: canvas.height }
}
