/** A frame as it is exported: the map with its date, and below it the legend and who must be named. */
import { drawLegend, wrapped, type ViewLegend } from '../view-picture.ts'

export interface FrameLayout {
  /** Both are even: video needs that. */
  width: number
  height: number
  mapHeight: number
  /** Of the text, in pixels. */
  fontSize: number
  attribution: readonly string[]
}

const FONT = 'system-ui, sans-serif'
const MIN_FONT = 11
const LINE = 1.4
const LEGEND_LINES = 4

const even = (value: number) => Math.max(2, Math.round(value / 2) * 2)

interface LayoutContent {
  attribution: string
  hasLegend: boolean
  /** The width of a text in pixels of the given size. */
  measure(text: string, fontSize: number): number
}

/** The picture of a map whose longer side has at most `longest` pixels; it is never enlarged. */
export function layoutOf(
  map: { width: number; height: number },
  longest: number,
  { attribution, hasLegend, measure }: LayoutContent,
): FrameLayout {
  const scale = Math.min(1, longest / Math.max(map.width, map.height))
  const [width, mapHeight] = [even(map.width * scale), even(map.height * scale)]
  const fontSize = Math.max(MIN_FONT, Math.round(width / 80))
  const lines = wrapped(attribution, width - 2 * fontSize, (text) => measure(text, fontSize))
  const below = fontSize * ((hasLegend ? LEGEND_LINES : 0) + lines.length * LINE + (hasLegend || lines.length > 0 ? 1.4 : 0))
  return { width, height: mapHeight + even(below), mapHeight, fontSize, attribution: lines }
}

export function measureText(text: string, fontSize: number): number {
  const pen = document.createElement('canvas').getContext('2d')!
  pen.font = `${fontSize}px ${FONT}`
  return pen.measureText(text).width
}

interface FrameContent {
  map: HTMLCanvasElement
  date: string
  legend: ViewLegend | null
}

/** Draws over whatever was on the picture. */
export function drawFrame(picture: HTMLCanvasElement, layout: FrameLayout, { map, date, legend }: FrameContent): void {
  const { width, height, mapHeight, fontSize } = layout
  const pen = picture.getContext('2d', { alpha: false, willReadFrequently: true })!
  pen.fillStyle = '#ffffff'
  pen.fillRect(0, 0, width, height)
  pen.imageSmoothingQuality = 'high'
  pen.drawImage(map, 0, 0, width, mapHeight)
  pen.textBaseline = 'top'
  drawDate(pen, date, fontSize)
  pen.font = `${fontSize}px ${FONT}`
  pen.fillStyle = '#13202a'
  let top = mapHeight + fontSize * 0.7
  if (legend) {
    drawLegend(pen, legend, { left: fontSize, top, width: Math.min(fontSize * 22, width - 2 * fontSize), size: fontSize })
    top += fontSize * LEGEND_LINES
  }
  for (const line of layout.attribution) {
    pen.fillText(line, fontSize, top)
    top += fontSize * LINE
  }
}

/** On a dark ground, to be read on any imagery. */
function drawDate(pen: CanvasRenderingContext2D, date: string, fontSize: number): void {
  const size = Math.round(fontSize * 1.6)
  pen.font = `600 ${size}px ${FONT}`
  pen.fillStyle = 'rgb(0 0 0 / 65%)'
  pen.fillRect(fontSize, fontSize, pen.measureText(date).width + size, size * 1.7)
  pen.fillStyle = '#ffffff'
  pen.fillText(date, fontSize + size / 2, fontSize + size * 0.4)
}
