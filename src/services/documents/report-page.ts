/** The page that a report is drawn on, and the pen that goes down it. */

export const PAGE = { width: 595, height: 842, margin: 48 } as const
export const INNER = PAGE.width - 2 * PAGE.margin
/** Below this line stands the foot of the page. */
export const BOTTOM = PAGE.height - 64
export const COLORS = { ink: '#1c2733', soft: '#5b6b7a', line: '#d5dce3', band: '#f3f6f8', accent: '#0b6e99' } as const

export interface Pen {
  document: PDFKit.PDFDocument
  /** Where the next thing begins. */
  y: number
  /** Begins a page if so much does not fit on this one. */
  need(height: number): void
  heading(text: string): void
}

export function penOf(document: PDFKit.PDFDocument): Pen {
  const pen: Pen = {
    document,
    y: PAGE.margin,
    need(height) {
      if (pen.y + height <= BOTTOM) return
      document.addPage()
      pen.y = PAGE.margin
    },
    heading(text) {
      pen.need(60)
      pen.y += 14
      document
        .font('Helvetica-Bold')
        .fontSize(12)
        .fillColor(COLORS.ink)
        .text(printable(text), PAGE.margin, pen.y, { width: INNER, lineBreak: false })
      pen.y += 20
    },
  }
  return pen
}

/** The standard fonts know Western letters only; other letters lose their accents, and what is left is a dot. */
export function printable(text: string): string {
  return Array.from(text, (letter) => {
    if (isWestern(letter)) return letter
    const plain = letter.normalize('NFKD').replaceAll(/\p{M}/gu, '')
    return plain !== '' && Array.from(plain).every(isWestern) ? plain : '·'
  }).join('')
}

const isWestern = (letter: string): boolean =>
  /^[\u0020-\u007e\u00a0-\u00ff\u2013\u2014\u2018\u2019\u201c\u201d\u2022\u2026\u20ac]$/u.test(letter)
