import type { Chart } from './report.ts'
import { COLORS, PAGE, printable, type PageCursor } from './report-page.ts'

const GAP = 20
const CHART = { width: (PAGE.width - 2 * PAGE.margin - GAP) / 2, height: 150 } as const
/** Margins of a chart for its numbers on the left, its title above and its labels below. */
const FRAME = { left: 42, top: 24, bottom: 22 } as const
const STEPS = 4
const MAX_LABELS = 6

/** Draws charts in two columns. */
export function drawCharts(cursor: PageCursor, charts: readonly Chart[]): void {
  charts.forEach((chart, index) => {
    const isLeft = index % 2 === 0
    if (isLeft) cursor.need(CHART.height + 14)
    drawChart(cursor.document, chart, PAGE.margin + (isLeft ? 0 : CHART.width + GAP), cursor.y + 10)
    if (!isLeft || index === charts.length - 1) cursor.y += CHART.height + 14
  })
}

function drawChart(document: PDFKit.PDFDocument, { title, unit, kind, points }: Chart, x: number, y: number): void {
  document
    .font('Helvetica-Bold')
    .fontSize(9.5)
    .fillColor(COLORS.ink)
    .text(printable(title), x, y, { width: CHART.width, height: 12, ellipsis: true })
  const area = { x: x + FRAME.left, y: y + FRAME.top, width: CHART.width - FRAME.left, height: CHART.height - FRAME.top - FRAME.bottom }
  const [low, high] = niceRange(points.map(({ value }) => value))
  const at = (value: number) => area.y + area.height * (1 - (value - low) / (high - low))
  for (let step = 0; step <= STEPS; step++) {
    const value = low + ((high - low) * step) / STEPS
    document
      .moveTo(area.x, at(value))
      .lineTo(area.x + area.width, at(value))
      .lineWidth(0.5)
      .strokeColor(COLORS.line)
      .stroke()
    document
      .font('Helvetica')
      .fontSize(7)
      .fillColor(COLORS.soft)
      .text(compact(value), x, at(value) - 3, { width: FRAME.left - 5, align: 'right', lineBreak: false })
  }
  const slot = area.width / Math.max(1, points.length)
  const middle = (index: number) => area.x + (index + 0.5) * slot
  if (kind === 'bars') drawBars(document, points, { middle, at, base: at(Math.max(low, 0)), slot })
  else drawLine(document, points, { middle, at })
  drawLabels(document, points, middle, area.y + area.height + 6)
  document
    .font('Helvetica')
    .fontSize(7)
    .fillColor(COLORS.soft)
    .text(printable(unit), x, y + 13, { width: CHART.width, lineBreak: false })
}

interface Scales {
  middle: (index: number) => number
  at: (value: number) => number
}

function drawBars(
  document: PDFKit.PDFDocument,
  points: Chart['points'],
  { middle, at, base, slot }: Scales & { base: number; slot: number },
): void {
  const width = Math.max(0.6, Math.min(26, slot * 0.7))
  points.forEach(({ value }, index) => {
    const top = at(value)
    document.rect(middle(index) - width / 2, Math.min(top, base), width, Math.abs(base - top)).fill(COLORS.accent)
  })
}

function drawLine(document: PDFKit.PDFDocument, points: Chart['points'], { middle, at }: Scales): void {
  points.forEach(({ value }, index) => {
    if (index === 0) document.moveTo(middle(index), at(value))
    else document.lineTo(middle(index), at(value))
  })
  if (points.length > 1) document.lineWidth(1.2).strokeColor(COLORS.accent).stroke()
  for (const [index, { value }] of points.entries()) document.circle(middle(index), at(value), 1.4).fill(COLORS.accent)
}

function drawLabels(document: PDFKit.PDFDocument, points: Chart['points'], middle: (index: number) => number, y: number): void {
  const every = Math.max(1, Math.ceil(points.length / MAX_LABELS))
  document.font('Helvetica').fontSize(7).fillColor(COLORS.soft)
  points.forEach(({ label }, index) => {
    if (index % every === 0) document.text(printable(label), middle(index) - 30, y, { width: 60, align: 'center', lineBreak: false })
  })
}

/** A range that includes 0 and ends at a round number. */
function niceRange(values: readonly number[]): [number, number] {
  const finite = values.filter(Number.isFinite)
  const low = Math.min(0, ...finite)
  const high = Math.max(0, ...finite)
  if (low === high) return [0, 1]
  const step = niceStep((high - low) / STEPS)
  return [Math.floor(low / step) * step, Math.floor(low / step) * step + STEPS * niceStep((high - Math.floor(low / step) * step) / STEPS)]
}

function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough))
  return power * [1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * (1 - 1e-9))!
}

function compact(value: number): string {
  const size = Math.abs(value)
  const [divisor, suffix] =
    size >= 1e12 ? [1e12, 'T'] : size >= 1e9 ? [1e9, 'G'] : size >= 1e6 ? [1e6, 'M'] : size >= 1e3 ? [1e3, 'k'] : [1, '']
  return `${Number((value / divisor).toPrecision(3))}${suffix}`
}
