/** Lists for people: the few columns by which they know a record. Everything else is in `--json`. */
import { stripVTControlCharacters } from 'node:util'
import { columnsOf, table } from './terminal.ts'

/** Those that a record has, in this order. */
const COLUMNS = (
  'id slug code host_name name display_name displayName title email event_type type kind job_type access_model status state role active ' +
  'credits item_count datetime triggered_at at operation created_at createdAt'
).split(' ')
/** How many of them, and times up to the minute or the day: the first that fits into the terminal, else the last. */
const FORMS = [
  { most: 5, time: 16 },
  { most: 4, time: 16 },
  { most: 4, time: 10 },
  { most: 3, time: 10 },
]
/** A table of one column says less than the record. */
const MIN_COLUMNS = 2

type Row = Readonly<Record<string, unknown>>

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)
const isCell = (value: unknown): value is string | number | boolean => ['string', 'number', 'boolean'].includes(typeof value)

/** The records of an answer that is a list: bare, or under the one name whose value is a list. */
function recordsOf(answer: unknown): { rows: Row[]; total: unknown } | null {
  const lists = Array.isArray(answer) ? [answer] : isRow(answer) ? Object.values(answer).filter((value) => Array.isArray(value)) : []
  const [list] = lists
  if (lists.length !== 1 || !list!.every(isRow)) return null
  return { rows: list.map(plain), total: isRow(answer) ? answer['total'] : null }
}

/** What is known of a GeoJSON feature stands in its properties. */
const plain = (row: Row): Row => (isRow(row['properties']) && row['type'] === 'Feature' ? { ...row['properties'], id: row['id'] } : row)

/** Null where the answer is no list, or its records have nothing to be known by. */
export function listing(answer: unknown): string | null {
  const found = recordsOf(answer)
  if (!found) return null
  const { rows, total } = found
  if (rows.length === 0) return 'Nothing was found\n'
  const known = COLUMNS.filter((name) => rows.some((row) => isCell(row[name])))
  if (known.length < MIN_COLUMNS) return null
  const drawn = (form: (typeof FORMS)[number], columns: number) => {
    const names = known.slice(0, form.most)
    const heads = names.map((name) => name.replaceAll(/_|(?<=[a-z])(?=[A-Z])/g, ' ').toUpperCase())
    return table(
      heads,
      rows.map((row) => names.map((name) => cell(row[name], form.time))),
      columns,
    )
  }
  const columns = columnsOf(process.stdout)
  const form = FORMS.find((one) => widthOf(drawn(one, Number.POSITIVE_INFINITY)) <= columns) ?? FORMS.at(-1)!
  const more = typeof total === 'number' && total > rows.length ? `${rows.length} of ${total}; --all shows the rest\n` : ''
  return `${drawn(form, columns)}\n${more}`
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
