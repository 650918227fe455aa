/**
 * Reads tables of a SQLite database file: pages, b-trees of tables and records, by the format that SQLite documents. It only reads, never
 * follows an index, and visits each page at most once, so that a hostile file ends in an error instead of a loop.
 */
import { FileProblem } from './limits.ts'

type Value = null | number | string | Uint8Array
type SqlRow = Readonly<Record<string, Value>>

const MAGIC = 'SQLite format 3\0'
const LEAF = 13
const INTERIOR = 5
const UTF8 = 1

const broken = () => new FileProblem('The GeoPackage is damaged. Export it again.')

export const isSqlite = (bytes: Uint8Array): boolean => new TextDecoder('latin1').decode(bytes.subarray(0, 16)) === MAGIC

export interface Database {
  /** Rows of a table; none if it does not exist. */
  rows(table: string): Iterable<SqlRow>
}

export function openSqlite(bytes: Uint8Array): Database {
  if (!isSqlite(bytes) || bytes.length < 512) throw broken()
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const pageSize = view.getUint16(16) === 1 ? 65_536 : view.getUint16(16)
  if (pageSize < 512 || (pageSize & (pageSize - 1)) !== 0) throw broken()
  if (view.getUint32(56) > UTF8) throw new FileProblem('The GeoPackage is not encoded as UTF-8. Export it again.')
  const usable = pageSize - bytes[20]!
  const file = { bytes, view, pageSize, usable }
  const tables = new Map<string, { root: number } & Columns>()
  for (const { values } of records(file, 1)) {
    const [type, name, , root, sql] = values
    if (type === 'table' && typeof name === 'string' && typeof root === 'number' && typeof sql === 'string')
      tables.set(name.toLowerCase(), { root, ...columnsOf(sql) })
  }
  return {
    *rows(table) {
      const found = tables.get(table.toLowerCase())
      if (!found) return
      const { root, names, rowIdAt } = found
      for (const { rowId, values } of records(file, root))
        yield Object.fromEntries(names.map((name, index) => [name, index === rowIdAt ? rowId : (values[index] ?? null)]))
    },
  }
}

interface DatabaseFile {
  bytes: Uint8Array
  view: DataView
  pageSize: number
  usable: number
}

interface Stored {
  rowId: number
  values: Value[]
}

function* records(file: DatabaseFile, root: number): Iterable<Stored> {
  const { view, pageSize } = file
  const seen = new Set<number>()
  const open = [root]
  while (open.length > 0) {
    const page = open.pop()!
    const start = (page - 1) * pageSize
    if (page < 1 || start + pageSize > view.byteLength || seen.has(page)) throw broken()
    seen.add(page)
    const header = start + (page === 1 ? 100 : 0)
    const type = view.getUint8(header)
    if (type !== LEAF && type !== INTERIOR) throw broken()
    const count = view.getUint16(header + 3)
    const cells = header + (type === LEAF ? 8 : 12)
    if (cells + count * 2 > start + pageSize) throw broken()
    const offsets = Array.from({ length: count }, (_, index) => start + view.getUint16(cells + index * 2))
    if (type === LEAF) for (const at of offsets) yield recordOf(file, at, start + pageSize)
    else {
      if (offsets.some((at) => at + 4 > start + pageSize)) throw broken()
      open.push(view.getUint32(header + 8), ...offsets.map((at) => view.getUint32(at)).toReversed())
    }
  }
}

function recordOf(file: DatabaseFile, at: number, end: number): Stored {
  const [size, afterSize] = varint(file.bytes, at)
  const [rowId, start] = varint(file.bytes, afterSize)
  const payload = payloadOf(file, start, size, end)
  const [headerSize, first] = varint(payload, 0)
  if (headerSize > payload.length) throw broken()
  const values: Value[] = []
  let [header, body] = [first, headerSize]
  while (header < headerSize) {
    const [code, next] = varint(payload, header)
    header = next
    const [value, length] = valueOf(payload, body, code)
    values.push(value)
    body += length
  }
  return { rowId, values }
}

/** A payload that does not fit in its page continues in a chain of overflow pages. */
function payloadOf({ bytes, view, pageSize, usable }: DatabaseFile, start: number, size: number, end: number): Uint8Array {
  const most = usable - 35
  if (size <= most) {
    if (start + size > end) throw broken()
    return bytes.subarray(start, start + size)
  }
  if (size > bytes.length) throw broken()
  const least = Math.floor(((usable - 12) * 32) / 255) - 23
  const rest = least + ((size - least) % (usable - 4))
  const local = rest <= most ? rest : least
  if (start + local + 4 > end) throw broken()
  const payload = new Uint8Array(size)
  payload.set(bytes.subarray(start, start + local))
  let filled = local
  let page = view.getUint32(start + local)
  while (filled < size) {
    const from = (page - 1) * pageSize
    if (page < 1 || from + pageSize > bytes.length) throw broken()
    const length = Math.min(usable - 4, size - filled)
    payload.set(bytes.subarray(from + 4, from + 4 + length), filled)
    filled += length
    page = view.getUint32(from)
  }
  return payload
}

function varint(bytes: Uint8Array, at: number): [value: number, next: number] {
  let value = 0
  for (let index = 0; index < 9; index++) {
    const byte = bytes[at + index]
    if (byte === undefined) throw broken()
    if (index === 8) return [value * 256 + byte, at + 9]
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) return [value, at + index + 1]
  }
  throw broken()
}

const INTEGER_BYTES = [0, 1, 2, 3, 4, 6, 8]

function valueOf(bytes: Uint8Array, at: number, code: number): [Value, number] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const length = code >= 12 ? Math.floor((code - 12) / 2) : code === 7 ? 8 : (INTEGER_BYTES[code] ?? 0)
  if (at + length > bytes.length) throw broken()
  if (code === 0) return [null, 0]
  if (code === 7) return [view.getFloat64(at), 8]
  if (code === 8 || code === 9) return [code - 8, 0]
  if (code >= 12) {
    const content = bytes.subarray(at, at + length)
    return [code % 2 === 0 ? content : new TextDecoder().decode(content), length]
  }
  if (code > 9) throw broken()
  let value = view.getInt8(at)
  for (let index = 1; index < length; index++) value = value * 256 + bytes[at + index]!
  return [value, length]
}

interface Columns {
  names: string[]
  /** The integer primary key, which is stored as the number of the row; -1 for none. */
  rowIdAt: number
}

/** Columns of `create table`, in order. Constraints of the table are no columns. */
function columnsOf(sql: string): Columns {
  const parts: string[] = []
  let depth = 0
  let part = ''
  for (const [token] of sql
    .slice(sql.indexOf('(') + 1)
    .matchAll(/"(?:[^"]|"")*"|'(?:[^']|'')*'|`[^`]*`|\[[^\]]*\]|--[^\n]*|[(),]|[^\s(),"'`[]+|\s+/g)) {
    if (token.startsWith('--')) continue
    if (depth === 0 && (token === ',' || token === ')')) {
      parts.push(part.trim())
      part = ''
      if (token === ')') break
      continue
    }
    if (token === '(') depth++
    if (token === ')') depth--
    part += token
  }
  const columns = parts.filter((text) => !/^(?:constraint|primary|unique|check|foreign)\b/i.test(text))
  return { names: columns.map(nameOf), rowIdAt: columns.findIndex((text) => /\sinteger\s(?:.*\s)?primary\s+key\b/i.test(text)) }
}

function nameOf(column: string): string {
  const found = /^"((?:[^"]|"")*)"|^`([^`]*)`|^\[([^\]]*)\]|^'([^']*)'|^(\S+)/.exec(column)
  return (found?.slice(1).find((name) => name !== undefined) ?? '').replaceAll('""', '"').toLowerCase()
}
