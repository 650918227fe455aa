/** Lists as tables: the few columns that identify a record. `--json` prints everything. */
import { stripVTControlCharacters } from 'node:util'
import { columnsOf, table } from './terminal.ts'

/** Columns in this order, where the records have them. */
const COLUMNS = (
  'id slug code host_name name display_name displayName title email event_type type kind job_type access_model status state role active ' +
  'credits item_count datetime triggered_at at operation created_at createdAt'
).split(' ')
/** The number of columns and the length of times: the first form that fits the terminal, else the last. */
const FORMS = [
  { maxColumns: 5, time: 16 },
  { maxColumns: 4, time: 16 },
  { maxColumns: 4, time: 10 },
  { maxColumns: 3, time: 10 },
]
/** A table of one column is less useful than the record itself. */
const MIN_COLUMNS = 2

type Row = Readonly<Record<string, unknown>>

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)
const isCell = (value: unknown): value is string | number | boolean => ['string', 'number', 'boolean'].includes(typeof value)

/** The records of a list: the value itself, or its only array. */
function recordsOf(output: unknown): { rows: Row[]; total: unknown } | null {
  const lists = Array.isArray(output) ? [output] : isRow(output) ? Object.values(output).filter((value) => Array.isArray(value)) : []
  const [list] = lists
  if (lists.length !== 1 || !list!.every(isRow)) return null
  return { rows: list.map(plain), total: isRow(output) ? output['total'] : null }
}

/** The data of a GeoJSON feature is in its properties. */
const plain = (row: Row): Row => (isRow(row['properties']) && row['type'] === 'Feature' ? { ...row['properties'], id: row['id'] } : row)

/** Null if the value is not a list, or its records have no columns to show. */
export function listing(output: unknown): string | null {
  const records = recordsOf(output)
  if (!records) return null
  const { rows, total } = records
  if (rows.length === 0) return 'No results\n'
  const known = COLUMNS.filter((name) => rows.some((row) => isCell(row[name])))
  if (known.length < MIN_COLUMNS) return null
  const render = (form: (typeof FORMS)[number], columns: number) => {
    const names = known.slice(0, form.maxColumns)
    const heads = names.map((name) => name.replaceAll(/_|(?<=[a-z])(?=[A-Z])/g, ' ').toUpperCase())
    return table(
      heads,
      rows.map((row) => names.map((name) => cell(row[name], form.time))),
      columns,
    )
  }
  const columns = columnsOf(process.stdout)
  const form = FORMS.find((candidate) => widthOf(render(candidate, Number.POSITIVE_INFINITY)) <= columns) ?? FORMS.at(-1)!
  const more = typeof total === 'number' && total > rows.length ? `${rows.length} of ${total}; use --all to show the rest\n` : ''
  return `${render(form, columns)}\n${more}`
}

const widthOf = (text: string): number =>
  Math.max(
    ...stripVTControlCharacters(text)
      .split('\n')
      .map((line) => line.length),
  )

function cell(value: unknown, time: number): string | number | null {
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return value.slice(0, time).replace('T', ' ')
  if (typeof value === 'number') return value
  return isCell(value) ? String(value) : null
}
