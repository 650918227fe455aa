/** Renders a report on A4: facts, a map, charts and tables, with page numbers. The PDF library is loaded on first use. */
import { drawCharts } from './report-charts.ts'
import { drawMap } from './report-map.ts'
import { BOTTOM, COLORS, INNER, PAGE, printable, startPages, type PageCursor } from './report-page.ts'
import type { ReportDocument, Table } from './report.ts'

const ROW = 17

export async function reportPdf(report: ReportDocument): Promise<Buffer> {
  const { default: PDFDocument } = await import('pdfkit')
  const document = new PDFDocument({
    size: 'A4',
    margin: PAGE.margin,
    bufferPages: true,
    info: { Title: printable(report.title), Creator: 'Groundtrack', CreationDate: report.createdAt, ModDate: report.createdAt },
  })
  const chunks: Buffer[] = []
  document.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = new Promise<void>((resolve, reject) => document.once('end', resolve).once('error', reject))
  const cursor = startPages(document)
  drawHeader(cursor, report)
  drawFacts(cursor, report)
  if (report.map) await drawMap(cursor, report.map)
  drawCharts(cursor, report.charts)
  for (const table of report.tables) drawTable(cursor, table)
  drawFooters(document, report)
  document.end()
  await ended
  return Buffer.concat(chunks)
}

function drawHeader(cursor: PageCursor, { title, subject, organization, period, createdAt }: ReportDocument): void {
  const { document } = cursor
  document.rect(0, 0, PAGE.width, 6).fill(COLORS.accent)
  document
    .font('Helvetica-Bold')
    .fontSize(20)
    .fillColor(COLORS.ink)
    .text(printable(title), PAGE.margin, 40, { width: INNER, height: 26, ellipsis: true })
  document
    .font('Helvetica')
    .fontSize(11)
    .fillColor(COLORS.soft)
    .text(printable(subject), PAGE.margin, 68, { width: INNER, height: 15, ellipsis: true })
  const line = [organization, period, `created ${createdAt.toISOString().slice(0, 10)}`].filter((part) => part !== null).join('   |   ')
  document.fontSize(9).text(printable(line), PAGE.margin, 86, { width: INNER, height: 12, ellipsis: true })
  document
    .moveTo(PAGE.margin, 104)
    .lineTo(PAGE.width - PAGE.margin, 104)
    .lineWidth(0.75)
    .strokeColor(COLORS.line)
    .stroke()
  cursor.y = 116
}

const FACTS_PER_ROW = 3

function drawFacts(cursor: PageCursor, { facts: all }: ReportDocument): void {
  const width = INNER / FACTS_PER_ROW
  all.forEach(({ label, value }, index) => {
    const column = index % FACTS_PER_ROW
    if (column === 0) cursor.need(36)
    const x = PAGE.margin + column * width
    cursor.document
      .font('Helvetica')
      .fontSize(8)
      .fillColor(COLORS.soft)
      .text(printable(label), x, cursor.y, { width: width - 10, height: 10, ellipsis: true })
    cursor.document
      .font('Helvetica-Bold')
      .fontSize(11)
      .fillColor(COLORS.ink)
      .text(printable(value), x, cursor.y + 11, { width: width - 10, height: 14, ellipsis: true })
    if (column === FACTS_PER_ROW - 1 || index === all.length - 1) cursor.y += 36
  })
}

function drawTable(cursor: PageCursor, { title, columns, rows, more }: Table): void {
  cursor.heading(title)
  const shares = columns.reduce((sum, { share }) => sum + share, 0)
  const widths = columns.map(({ share }) => (INNER * share) / shares)
  const starts = widths.map((_, index) => PAGE.margin + widths.slice(0, index).reduce((sum, width) => sum + width, 0))
  const row = (cells: readonly string[], font: string, shade: boolean) => {
    if (shade) cursor.document.rect(PAGE.margin, cursor.y - 4, INNER, ROW).fill(COLORS.band)
    cursor.document.font(font).fontSize(8.5).fillColor(COLORS.ink)
    cells.forEach((cell, index) =>
      cursor.document.text(printable(cell), starts[index]! + 3, cursor.y, {
        width: widths[index]! - 6,
        height: 10,
        ellipsis: true,
        align: columns[index]!.isNumber ? 'right' : 'left',
      }),
    )
    cursor.y += ROW
  }
  const headings = () => {
    row(
      columns.map(({ label }) => label),
      'Helvetica-Bold',
      false,
    )
    cursor.document
      .moveTo(PAGE.margin, cursor.y - 5)
      .lineTo(PAGE.width - PAGE.margin, cursor.y - 5)
      .lineWidth(0.75)
      .strokeColor(COLORS.soft)
      .stroke()
  }
  headings()
  rows.forEach((cells, index) => {
    if (cursor.y + ROW > BOTTOM) {
      cursor.need(PAGE.height)
      headings()
    }
    row(cells.map(cellText), 'Helvetica', index % 2 === 1)
  })
  if (rows.length === 0) row(['No data'], 'Helvetica-Oblique', false)
  if (more > 0) row([`and ${more.toLocaleString('en')} more`], 'Helvetica-Oblique', false)
  cursor.y += 6
}

const cellText = (value: string | number | null): string =>
  value === null ? '' : typeof value === 'number' ? value.toLocaleString('en') : value

function drawFooters(document: PDFKit.PDFDocument, { title }: ReportDocument): void {
  const { count } = document.bufferedPageRange()
  for (let page = 0; page < count; page++) {
    document.switchToPage(page)
    // Text in the bottom margin would otherwise start another page.
    document.page.margins.bottom = 0
    document.font('Helvetica').fontSize(8).fillColor(COLORS.soft)
    document.text(printable(title), PAGE.margin, PAGE.height - 40, { width: INNER / 2, height: 10, ellipsis: true })
    document.text(`Page ${page + 1} of ${count}`, PAGE.margin + INNER / 2, PAGE.height - 40, {
      width: INNER / 2,
      align: 'right',
      lineBreak: false,
    })
  }
}
