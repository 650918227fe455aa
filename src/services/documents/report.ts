/** The contents of a report, from which PDF, CSV and JSON are created. */

export interface ReportDocument {
  title: string
  /** Subtitle. */
  subject: string
  organization: string
  createdAt: Date
  /** The period; null for a report of the current state. */
  period: string | null
  facts: readonly Fact[]
  map: ReportMap | null
  charts: readonly Chart[]
  /** CSV contains the first table. */
  tables: readonly Table[]
}

interface Fact {
  label: string
  value: string
}

export interface ReportMap {
  /** West, south, east, north in degrees. */
  bounds: readonly [number, number, number, number]
  /** A PNG or JPEG image of exactly these bounds in Web Mercator; null for a map of outlines. */
  image: { bytes: Uint8Array; width: number; height: number } | null
  /** Rings in longitude and latitude. */
  outlines: readonly (readonly (readonly [number, number])[])[]
  caption: string
}

export interface Chart {
  title: string
  /** Unit of the values, for the axis. */
  unit: string
  kind: 'bars' | 'line'
  points: readonly { label: string; value: number }[]
}

type Cell = string | number | null

export interface Table {
  title: string
  columns: readonly { key: string; label: string; isNumber?: true; share: number }[]
  rows: readonly (readonly Cell[])[]
  /** Number of rows that are omitted. */
  more: number
}

/** The first table as CSV. Text that a spreadsheet would run as a formula is escaped. */
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

/** The report as JSON without images, with rows as objects. */
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
