/** One page of PDF: text in Helvetica, filled shapes, lines and JPEG pictures. Measures are points from the top left. */

export interface PdfImage {
  jpeg: Uint8Array<ArrayBuffer>
  width: number
  height: number
}

type Colour = readonly [number, number, number]

export interface PdfPage {
  text(x: number, y: number, size: number, text: string, isBold?: boolean): void
  rectangle(x: number, y: number, width: number, height: number, colour: Colour): void
  polygon(points: readonly (readonly [number, number])[], colour: Colour): void
  frame(x: number, y: number, width: number, height: number): void
  image(image: PdfImage, x: number, y: number, width: number, height: number): void
  save(title: string, created: Date): Blob
}

/** Characters between 0x80 and 0x9f of the encoding that PDF readers have. */
const EXTRA: Readonly<Record<string, number>> = { '€': 0x80, '…': 0x85, '‘': 0x91, '’': 0x92, '“': 0x93, '”': 0x94, '–': 0x96, '—': 0x97 }
const codeOf = (character: string): number | null => {
  const code = character.codePointAt(0)!
  if ((code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code <= 0xff)) return code
  return EXTRA[character] ?? null
}

/** Whether the fonts of PDF readers have all characters of a text; another has to be drawn as a picture. */
export const isPdfText = (text: string): boolean => [...text].every((character) => codeOf(character) !== null)

const literal = (text: string): string =>
  `<${[...text].map((character) => (codeOf(character) ?? 0x3f).toString(16).padStart(2, '0')).join('')}>`
/** Of the document's properties, which may have any character. */
const unicode = (text: string): string =>
  `<feff${Array.from({ length: text.length }, (_, index) => text.charCodeAt(index).toString(16).padStart(4, '0')).join('')}>`

const number = (value: number) => String(Number(value.toFixed(2)))
const paint = (colour: Colour) => `${colour.map((part) => number(part / 255)).join(' ')} rg`

export function createPdf(width: number, height: number): PdfPage {
  const content: string[] = []
  const images: PdfImage[] = []
  const up = (y: number) => number(height - y)
  return {
    text: (x, y, size, text, isBold = false) =>
      void content.push(`BT 0 g /${isBold ? 'B' : 'R'} ${number(size)} Tf ${number(x)} ${up(y)} Td ${literal(text)} Tj ET`),
    rectangle: (x, y, w, h, colour) => void content.push(`${paint(colour)} ${number(x)} ${up(y + h)} ${number(w)} ${number(h)} re f`),
    polygon: (points, colour) =>
      void content.push(
        `${paint(colour)} ${points.map(([x, y], index) => `${number(x)} ${up(y)} ${index === 0 ? 'm' : 'l'}`).join(' ')} h f`,
      ),
    frame: (x, y, w, h) => void content.push(`0 G 0.7 w ${number(x)} ${up(y + h)} ${number(w)} ${number(h)} re S`),
    image: (image, x, y, w, h) => {
      images.push(image)
      content.push(`q ${number(w)} 0 0 ${number(h)} ${number(x)} ${up(y + h)} cm /I${images.length} Do Q`)
    },
    save: (title, created) => document({ width, height, content: content.join('\n'), images, title, created }),
  }
}

const FIRST_IMAGE = 8

interface PdfDocument {
  width: number
  height: number
  content: string
  images: readonly PdfImage[]
  title: string
  created: Date
}

function document({ width, height, content, images, title, created }: PdfDocument): Blob {
  const names = images.map((_, index) => `/I${index + 1} ${FIRST_IMAGE + index} 0 R`).join(' ')
  const stamp = created.toISOString().replaceAll(/[-:T]|\..*/g, '')
  const font = (name: string) => `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`
  const encoder = new TextEncoder()
  const stream = (bytes: Uint8Array<ArrayBuffer>, fields: string): (string | Uint8Array<ArrayBuffer>)[] => [
    `<< ${fields} /Length ${bytes.byteLength} >>\nstream\n`,
    bytes,
    '\nendstream',
  ]
  const objects: (string | Uint8Array<ArrayBuffer>)[][] = [
    ['<< /Type /Catalog /Pages 2 0 R >>'],
    ['<< /Type /Pages /Kids [3 0 R] /Count 1 >>'],
    [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${number(width)} ${number(height)}] /Contents 4 0 R ` +
        `/Resources << /Font << /R 5 0 R /B 6 0 R >> /XObject << ${names} >> >> >>`,
    ],
    stream(encoder.encode(content), ''),
    [font('Helvetica')],
    [font('Helvetica-Bold')],
    [`<< /Title ${unicode(title)} /Producer (Groundtrack) /CreationDate (D:${stamp}Z) >>`],
    ...images.map((image) =>
      stream(
        image.jpeg,
        `/Type /XObject /Subtype /Image /Width ${image.width} /Height ${image.height} ` +
          '/ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode',
      ),
    ),
  ]
  const parts: (string | Uint8Array<ArrayBuffer>)[] = []
  let length = 0
  const add = (part: string | Uint8Array<ArrayBuffer>) => {
    parts.push(part)
    length += typeof part === 'string' ? encoder.encode(part).byteLength : part.byteLength
  }
  add('%PDF-1.7\n')
  const offsets = objects.map((object, index) => {
    const at = length
    add(`${index + 1} 0 obj\n`)
    for (const part of object) add(part)
    add('\nendobj\n')
    return at
  })
  const table = length
  add(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`)
  for (const at of offsets) add(`${String(at).padStart(10, '0')} 00000 n \n`)
  add(`trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info 7 0 R >>\nstartxref\n${table}\n%%EOF\n`)
  return new Blob(parts, { type: 'application/pdf' })
}
