/** Tables of statistics, as CSV and Parquet, and how several machines compute one together. */
import { readFile, writeFile } from 'node:fs/promises'
import { deserialize, serialize } from 'node:v8'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { RasterError } from '#raster/errors.ts'
import { pathOf, type MethodTask } from './method.ts'

export interface Row {
  readonly texts: readonly string[]
  readonly numbers: readonly (number | null)[]
}

export interface TableShape {
  /** Name of the files, without ending. */
  readonly name: string
  /** Names of the columns with texts, and of those with numbers. */
  readonly texts: readonly string[]
  readonly columns: readonly string[]
}

export async function writeTable(task: MethodTask<unknown>, { name, texts, columns }: TableShape, rows: readonly Row[]): Promise<void> {
  await writeFile(pathOf(task, `${name}.csv`), csvOf([...texts, ...columns], rows), { signal: task.signal })
  await writeFile(pathOf(task, `${name}.parquet`), parquetOf(texts, columns, rows), { signal: task.signal })
}

/** Some rows of a table, in groups that are numbered in the order of the table. */
interface PartOfTable {
  readonly numbers: readonly number[]
  readonly groups: readonly (readonly Row[])[]
}

export const PART_FILE = 'rows'

export const writePart = async (task: MethodTask<unknown>, part: PartOfTable): Promise<void> =>
  await writeFile(pathOf(task, PART_FILE), serialize(part), { signal: task.signal })

interface Join extends TableShape {
  readonly groupCount: number
  /** Paths of the parts. */
  readonly parts: readonly string[]
}

/** Joins parts to one table: the files are those that one machine would have written. */
export async function table(task: MethodTask<Join>): Promise<Record<string, unknown>> {
  const { groupCount, parts, ...shape } = task.options
  const groups: (readonly Row[] | undefined)[] = Array.from({ length: groupCount })
  for (const part of parts) {
    const { numbers, groups: found } = deserialize(await readFile(part, { signal: task.signal })) as PartOfTable
    for (const [index, number] of numbers.entries()) groups[number] = found[index]
  }
  if (groups.includes(undefined)) throw new RasterError('invalid_argument', 'Parts of the table are missing')
  await writeTable(task, shape, (groups as (readonly Row[])[]).flat())
  return {}
}

function csvOf(columns: readonly string[], rows: readonly Row[]): string {
  const lines = rows.map(({ texts, numbers }) => [...texts.map(quoted), ...numbers.map((value) => value ?? '')].join(','))
  return [columns.join(','), ...lines, ''].join('\r\n')
}

/** IDs come from the caller: text that a spreadsheet would evaluate is quoted. */
function quoted(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function parquetOf(textColumns: readonly string[], columns: readonly string[], rows: readonly Row[]): Uint8Array {
  const texts = textColumns.map((name, index) => ({ name, type: 'STRING' as const, data: rows.map((row) => row.texts[index]!) }))
  const numbers = columns.map((name, index) => ({
    name,
    type: 'DOUBLE' as const,
    nullable: true,
    data: rows.map((row) => row.numbers[index] ?? null),
  }))
  return new Uint8Array(parquetWriteBuffer({ columnData: [...texts, ...numbers] }))
}
