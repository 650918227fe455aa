/** Rows as a file. A cell that a spreadsheet would run as a formula is made text. */
export function saveCsv(name: string, rows: readonly (readonly (string | number)[])[]): void {
  const cell = (value: string | number) => {
    const text = typeof value === 'string' && /^[=+@-]/.test(value) ? `'${value}` : String(value)
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  const text = rows.map((row) => row.map(cell).join(',')).join('\r\n')
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  link.download = `${name.replaceAll(/[^\w .-]/g, '_')}.csv`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
