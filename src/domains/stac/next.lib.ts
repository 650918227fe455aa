/** The cursor of a search: opaque to callers, and no more than a value to us, so that a forged one only finds other pages. */
import { isInstant } from '#core/interval.ts'
import { invalidField } from '#core/problem.ts'
import type { Cursor, Order } from '#model/imagery/item-filter.ts'

export interface Next {
  cursor: Cursor
  /** Counted with the first page, and not again. */
  matched: number | null
  isEstimated: boolean
}

export function encodeNext({ cursor, matched, isEstimated }: Next): string {
  return Buffer.from(JSON.stringify([cursor.values, cursor.seq, matched, isEstimated ? 1 : 0])).toString('base64url')
}

/** It must fit the order that it is used with: a value for each field, of that field's kind. */
export function decodeNext(text: string, orders: readonly Order[]): Next {
  const [values, seq, matched, estimated] = parse(text)
  const kinds = orders.length > 0 ? orders.map(({ kind }) => kind) : (['time'] as const)
  if (!Array.isArray(values) || values.length !== kinds.length || !kinds.every((kind, index) => fits(kind, values[index]))) throw foreign()
  if (!Number.isSafeInteger(seq) || !(matched === null || Number.isSafeInteger(matched))) throw foreign()
  return {
    cursor: { values: values as Cursor['values'], seq: seq as number },
    matched: matched as number | null,
    isEstimated: estimated === 1,
  }
}

const foreign = () => invalidField('next', 'is not the next of a page of this search')

function parse(text: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    if (Array.isArray(parts)) return parts
  } catch {
    // Whatever it was, it was not written by us.
  }
  throw foreign()
}

function fits(kind: Order['kind'], value: unknown): boolean {
  if (value === null) return true
  if (kind === 'number') return typeof value === 'number' && Number.isFinite(value)
  return typeof value === 'string' && !value.includes('\0') && value.isWellFormed() && (kind === 'text' || isInstant(value))
}
