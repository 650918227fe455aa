/** Renders an invoice as an A4 page with one table. The PDF library is loaded on first use. */

export interface PrintedInvoice {
  number: string
  period: string
  status: string
  issuedAt: Date
  dueAt: Date
  /** Name, numbers and address, one line each. */
  customer: readonly string[]
  lines: readonly { description: string; quantity: number; amount: string }[]
  subtotal: string
  gst: string
  total: string
}

const MARGIN = 56
const RIGHT = 595 - MARGIN
const ROW = 20
const BOTTOM = 842 - MARGIN

const day = (at: Date) => at.toISOString().slice(0, 10)

export async function invoicePdf(invoice: PrintedInvoice): Promise<Buffer> {
  const { default: PDFDocument } = await import('pdfkit')
  const document = new PDFDocument({
    size: 'A4',
    margin: MARGIN,
    info: { Title: `Invoice ${invoice.number}`, Creator: 'Groundtrack', CreationDate: invoice.issuedAt, ModDate: invoice.issuedAt },
  })
  const chunks: Buffer[] = []
  document.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = new Promise<void>((resolve, reject) => document.once('end', resolve).once('error', reject))
  drawHeader(document, invoice)
  let y = 300
  const row = (left: string, middle: string, right: string, font = 'Helvetica') => {
    if (y > BOTTOM) {
      document.addPage()
      y = MARGIN
    }
    document
      .font(font)
      .fontSize(10)
      .text(left, MARGIN, y, { width: 330, height: ROW - 6, ellipsis: true, lineBreak: true })
    document
      .text(middle, 380, y, { width: 60, align: 'right', lineBreak: false })
      .text(right, 440, y, { width: RIGHT - 440, align: 'right', lineBreak: false })
    y += ROW
  }
  row('Description', 'Quantity', 'Amount (AUD)', 'Helvetica-Bold')
  document
    .moveTo(MARGIN, y - 5)
    .lineTo(RIGHT, y - 5)
    .stroke()
  for (const { description, quantity, amount } of invoice.lines) row(description, String(quantity), amount)
  y += ROW / 2
  row('Subtotal', '', invoice.subtotal)
  row('GST', '', invoice.gst)
  row('Total', '', invoice.total, 'Helvetica-Bold')
  document.end()
  await ended
  return Buffer.concat(chunks)
}

function drawHeader(document: PDFKit.PDFDocument, { number, period, status, issuedAt, dueAt, customer }: PrintedInvoice): void {
  document.font('Helvetica-Bold').fontSize(20).text('Tax invoice', MARGIN, MARGIN)
  document.font('Helvetica').fontSize(10)
  const facts = [`Number: ${number}`, `Month: ${period}`, `Issued: ${day(issuedAt)}`, `Due: ${day(dueAt)}`, `Status: ${status}`]
  facts.forEach((fact, index) => document.text(fact, MARGIN, 100 + index * 15))
  document.font('Helvetica-Bold').text('To', MARGIN, 190)
  document.font('Helvetica')
  customer
    .slice(0, 5)
    .forEach((line, index) => document.text(line, MARGIN, 205 + index * 15, { width: RIGHT - MARGIN, height: 14, ellipsis: true }))
}
