import { saveFile } from './save-file.ts'

/** Rows as a file. A cell that a spreadsheet would run as a formula is made text. */
export function saveCsv(name: string, rows: readonly (readonly (string | number)[])[]): void {
  const cell = (value: string | number) => {
    const text = typeof value === 'string' && /^[=+@-]/.test(value) ? `'${value}` : String(value)
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  const text = rows.map((row) => row.map(cell).join(',')).join('\r\n')
  saveFile(`${name}.csv`, new Blob([text], { type: 'text/csv' }))
}
