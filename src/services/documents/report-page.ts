/** The page of a report, and a cursor that moves down it. */

export const PAGE = { width: 595, height: 842, margin: 48 } as const
export const INNER = PAGE.width - 2 * PAGE.margin
/** The page footer starts below this line. */
export const BOTTOM = PAGE.height - 64
export const COLORS = { ink: '#1c2733', soft: '#5b6b7a', line: '#d5dce3', band: '#f3f6f8', accent: '#0b6e99' } as const

export interface PageCursor {
  document: PDFKit.PDFDocument
  /** Top of the next element. */
  y: number
  /** Starts a new page if the height does not fit on this one. */
  need(height: number): void
  heading(text: string): void
}

export function startPages(document: PDFKit.PDFDocument): PageCursor {
  const cursor: PageCursor = {
    document,
    y: PAGE.margin,
    need(height) {
      if (cursor.y + height <= BOTTOM) return
      document.addPage()
      cursor.y = PAGE.margin
    },
    heading(text) {
      cursor.need(60)
      cursor.y += 14
      document
        .font('Helvetica-Bold')
        .fontSize(12)
        .fillColor(COLORS.ink)
        .text(printable(text), PAGE.margin, cursor.y, { width: INNER, lineBreak: false })
      cursor.y += 20
    },
  }
  return cursor
}

/** The standard fonts have Western letters only: others lose their accents or become a dot. */
export function printable(text: string): string {
  return Array.from(text, (letter) => {
    if (isWestern(letter)) return letter
    const plain = letter.normalize('NFKD').replaceAll(/\p{M}/gu, '')
    return plain !== '' && Array.from(plain).every(isWestern) ? plain : '·'
  }).join('')
}

const isWestern = (letter: string): boolean =>
  /^[\u0020-\u007e\u00a0-\u00ff\u2013\u2014\u2018\u2019\u201c\u201d\u2022\u2026\u20ac]$/u.test(letter)
