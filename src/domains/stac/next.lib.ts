/** The cursor of a search. It is opaque to callers and contains only sort values, so a forged one only leads to another page. */
import { isInstant } from '#core/interval.ts'
import { invalidField } from '#core/problem.ts'
import type { Cursor, Order } from '#model/imagery/item-filter.ts'

export interface Next {
  cursor: Cursor
  /** Counted with the first page only. */
  matched: number | null
  isEstimated: boolean
}

export function encodeNext({ cursor, matched, isEstimated }: Next): string {
  return Buffer.from(JSON.stringify([cursor.values, cursor.seq, matched, isEstimated ? 1 : 0])).toString('base64url')
}

/** The cursor must match the sort order: one value of the right kind for each field. */
export function decodeNext(text: string, orders: readonly Order[]): Next {
  const [values, seq, matched, estimated] = parse(text)
  const kinds = orders.length > 0 ? orders.map(({ kind }) => kind) : (['time'] as const)
  if (!Array.isArray(values) || values.length !== kinds.length || !kinds.every((kind, index) => hasKind(kind, values[index])))
    throw invalidCursor()
  if (!Number.isSafeInteger(seq) || !(matched === null || Number.isSafeInteger(matched))) throw invalidCursor()
  return {
    cursor: { values: values as Cursor['values'], seq: seq as number },
    matched: matched as number | null,
    isEstimated: estimated === 1,
  }
}

const invalidCursor = () => invalidField('next', 'must be the next value of a previous page of this search')

function parse(text: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    if (Array.isArray(parts)) return parts
  } catch {
    // Not a cursor of ours.
  }
  throw invalidCursor()
}

function hasKind(kind: Order['kind'], value: unknown): boolean {
  if (value === null) return true
  if (kind === 'number') return typeof value === 'number' && Number.isFinite(value)
  return typeof value === 'string' && !value.includes('\0') && value.isWellFormed() && (kind === 'text' || isInstant(value))
}
