/** A report before it is a PDF, a table or JSON: what it says, in an order that a person reads it in. */

export interface ReportDocument {
  title: string
  /** What it is about, in a line. */
  subject: string
  organization: string
  createdAt: Date
  /** What time it covers; null where it is about now. */
  period: string | null
  facts: readonly Fact[]
  map: ReportMap | null
  charts: readonly Chart[]
  /** The first one is what CSV holds. */
  tables: readonly Table[]
}

interface Fact {
  label: string
  value: string
}

export interface ReportMap {
  /** West, south, east, north. */
  bounds: readonly [number, number, number, number]
  /** A picture of exactly these bounds in Web Mercator, PNG or JPEG; null for outlines alone. */
  picture: { bytes: Uint8Array; width: number; height: number } | null
  /** Rings in longitude and latitude. */
  outlines: readonly (readonly (readonly [number, number])[])[]
  caption: string
}

export interface Chart {
  title: string
  /** What a value is, for the axis. */
  unit: string
  kind: 'bars' | 'line'
  points: readonly { label: string; value: number }[]
}

type Cell = string | number | null

export interface Table {
  title: string
  columns: readonly { key: string; label: string; isNumber?: true; share: number }[]
  rows: readonly (readonly Cell[])[]
  /** Rows that there are beside those shown. */
  more: number
}

/** The first table, one line a row. Text that a spreadsheet would take for a formula is quoted as text. */
export function reportCsv({ tables }: ReportDocument): Buffer {
  const [table] = tables
  if (!table) return Buffer.from('')
  const lines = [table.columns.map(({ key }) => key), ...table.rows].map((row) => row.map(csvCell).join(','))
  return Buffer.from(`${lines.join('\r\n')}\r\n`)
}

function csvCell(value: Cell): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Everything but pictures, with rows as objects. */
export function reportJson(document: ReportDocument, type: string): Buffer {
  const { title, subject, organization, createdAt, period, facts, map, charts, tables } = document
  return Buffer.from(
    JSON.stringify(
      {
        report_type: type,
        title,
        subject,
        organization,
        period,
        created_at: createdAt.toISOString(),
        facts,
        bounds: map?.bounds ?? null,
        charts,
        tables: tables.map(({ title: name, columns, rows, more }) => ({
          title: name,
          rows: rows.map((row) => Object.fromEntries(columns.map(({ key }, index) => [key, row[index] ?? null]))),
          rows_left_out: more,
        })),
      },
      null,
      2,
    ),
  )
}
